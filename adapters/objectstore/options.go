package objectstore

import (
	"cmp"

	"github.com/habeas-data/habeas/domain"
)

// Name is the default name of the resolver. It is also the kind of the refs that select files.
const Name = "files"

// The defaults of Options.
const (
	DefaultMaxContent = 1 << 20
	DefaultMaxTotal   = 10 << 20
	DefaultMaxObjects = 10_000
)

// MaxKeys is the maximum number of keys in one call of ExportKeys or EraseKeys.
const MaxKeys = 1000

// Options holds the settings of a Resolver. The zero value is ready for use.
type Options struct {
	// Name is the name of the resolver, and the kind of its refs. Resolvers for different buckets must have different
	// names. The default is the constant Name.
	Name string

	// Category is the category of all exported records. The default is domain.CategoryIdentity.
	Category domain.Category

	// MaxContentBytes is the maximum size in bytes of an object whose content is exported. For a larger object, the export
	// contains a note in place of the content. If MaxContentBytes is negative, the content of no object is exported. The
	// default is 1 MiB.
	MaxContentBytes int64

	// MaxTotal is the maximum total size in bytes of the contents of one export, because the export holds all contents in
	// memory. The objects are exported in the order of their keys. If the content of an object would exceed MaxTotal, the
	// export contains a note in place of this content. The default is 10 MiB.
	MaxTotal int64

	// MaxObjects is the maximum number of objects in an export. If a subject has more objects, the resolver returns an
	// error, and is listed as an incomplete source in the export. An erasure has no limit. The default is 10,000.
	MaxObjects int
}

func (o Options) withDefaults() Options {
	o.Name = cmp.Or(o.Name, Name)
	o.Category = cmp.Or(o.Category, domain.CategoryIdentity)
	o.MaxContentBytes = cmp.Or(o.MaxContentBytes, DefaultMaxContent)
	o.MaxTotal = cmp.Or(o.MaxTotal, DefaultMaxTotal)
	o.MaxObjects = cmp.Or(o.MaxObjects, DefaultMaxObjects)
	return o
}
