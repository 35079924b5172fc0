// Package objectstore exports and erases the files of a subject: on S3 and what speaks its protocol, Google Cloud
// Storage, Azure Blob Storage, or in a directory, each as a bucket of gocloud.dev/blob:
//
//	bucket, err := blob.OpenBucket(ctx, "s3://media?region=eu-central-1") // with gocloud.dev/blob/s3blob imported
//	files, err := objectstore.New(bucket, objectstore.Options{})
//	gdpr, err := app.New(app.Config{DB: db, Models: models, Resolvers: []ports.Resolver{files}})
//
// A ref names one object by its key, "avatars/42.png", or, with a slash at its end, every object below a prefix,
// "uploads/42/". The subject provider gives it to the subject:
//
//	domain.NewSubject("42", domain.SubjectRef{Kind: objectstore.Name, Value: "uploads/42/"})
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
