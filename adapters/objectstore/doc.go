// Package objectstore exports and erases the files of a subject: on S3 and what speaks its protocol, Google Cloud
// Storage, Azure Blob Storage, or in a directory, each as a bucket of gocloud.dev/blob:
//
//	bucket, err := blob.OpenBucket(ctx, "s3://media?region=eu-central-1") // with gocloud.dev/blob/s3blob imported
//	files, err := objectstore.New(bucket, objectstore.Options{})
//	gdpr, err := app.New(app.Config{DB: db, Models: models, Resolvers: []ports.Resolver{files}})
//
// A ref of the subject provider names one object by its key, "avatars/42.png", or, with a slash at its end, every
// object below a prefix, "uploads/42/":
//
//	domain.NewSubject("42", domain.SubjectRef{Kind: objectstore.Name, Value: "uploads/42/"})
//
// A key in a column (see domain.Annotation.Ref) names one object, and is never a prefix: users may have written it. A
// key that is empty, that begins or ends with a slash, or that has an empty segment, "." or "..", is a
// *domain.ResolverError. The worker then abandons the entry, with all of its keys, to a person, and an export names the
// resolver as incomplete.
//
// An application that keeps its files below a prefix gives the resolver a blob.PrefixedBucket. No ref then leads out of
// the prefix.
//
// # Versions
//
// On S3, an erasure deletes every version of the objects, and every delete marker, whether the bucket is versioned or
// not. It needs the permissions s3:ListBucketVersions and s3:DeleteObjectVersion beside those to list, read and delete.
// A version under a retention or a legal hold is refused by S3, and the entry is abandoned to a person.
//
// On Google Cloud Storage and Azure, an erasure deletes the current version. What the store itself keeps behind it, by
// object versioning or soft deletion, goes when the store's own rule says so: give the bucket such a rule.
package objectstore
