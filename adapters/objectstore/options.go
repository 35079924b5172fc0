package objectstore

import (
	"cmp"

	"github.com/habeas-data/habeas/domain"
)

// Name is the default name of the resolver, and so the kind of its refs.
const Name = "files"

// The defaults of Options.
const (
	DefaultMaxContent = 1 << 20
	DefaultMaxTotal   = 10 << 20
	DefaultMaxObjects = 10_000
)

// MaxKeys is how many keys ExportKeys and EraseKeys take at once.
const MaxKeys = 1000

// Options change what a Resolver does by default. The zero value is ready for use.
type Options struct {
	// Name is the name of the resolver, and the kind of the refs that go to it. An application with several buckets gives
	// each a name of its own. The default is Name.
	Name string

	// Category is the category of everything that the resolver exports. The default is domain.CategoryIdentity.
	Category domain.Category

	// MaxContent is the size in bytes up to which the content of an object is exported. A larger object is exported by
	// its name and its size, with a note. Below zero no content is exported. The default is 1 MiB.
	MaxContent int64

	// MaxTotal bounds the contents of one export together, in bytes: they are held in memory. Objects are taken in the
	// order of their keys. One that does not fit any more is exported by its name and its size, with a note. The default
	// is 10 MiB.
	MaxTotal int64

	// MaxObjects is how many objects an export can have. The export of a subject with more fails, and names the resolver
	// as incomplete. An erasure has no such bound. The default is 10,000.
	MaxObjects int
}

func (o Options) withDefaults() Options {
	o.Name = cmp.Or(o.Name, Name)
	o.Category = cmp.Or(o.Category, domain.CategoryIdentity)
	o.MaxContent = cmp.Or(o.MaxContent, DefaultMaxContent)
	o.MaxTotal = cmp.Or(o.MaxTotal, DefaultMaxTotal)
	o.MaxObjects = cmp.Or(o.MaxObjects, DefaultMaxObjects)
	return o
}
