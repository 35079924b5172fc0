// Package objectstore implements a resolver for the files of a subject in an object store. It supports S3 and
// compatible stores, Google Cloud Storage, Azure Blob Storage, and directories, each as a bucket of gocloud.dev/blob:
//
//	bucket, err := blob.OpenBucket(ctx, "s3://media?region=eu-central-1") // with gocloud.dev/blob/s3blob imported
//	files, err := objectstore.New(bucket, objectstore.Options{})
//	gdpr, err := app.New(app.Config{DB: db, Models: models, Resolvers: []ports.Resolver{files}})
//
// A ref of the subject provider is the key of one object, such as "avatars/42.png". With a slash at its end, such as
// "uploads/42/", the ref is a prefix and selects every object below it:
//
//	domain.NewSubject("42", domain.SubjectRef{Kind: objectstore.Name, Value: "uploads/42/"})
//
// A key in a column (see domain.Annotation.Ref) is always the key of one object and never a prefix, because users may
// have written the column. A key is refused with a *domain.ResolverError if it is empty, begins or ends with a slash,
// or has an empty segment or a segment "." or "..". The worker then abandons the outbox entry with all its keys, so
// that a person looks into it. An export names the resolver as incomplete.
//
// To restrict the resolver to the files below a prefix, pass a blob.PrefixedBucket to [New]. See [Options] for the
// limits of an export. Package journal, below this package, stores the journal of erasures in a bucket.
//
// # Versions
//
// On S3, an erasure deletes every version and every delete marker of the objects, in buckets with and without
// versioning. It needs the permissions s3:ListBucketVersions and s3:DeleteObjectVersion in addition to the permissions
// to list, read and delete. S3 refuses to delete a version under a retention or a legal hold. The entry is then
// abandoned.
//
// On Google Cloud Storage and Azure, an erasure deletes the current version. With object versioning or soft deletion,
// the store keeps earlier versions until a lifecycle rule of the bucket deletes them. Configure such a rule.
package objectstore
