// Package objectstore implements a resolver for the files of a subject in an object store. The resolver supports S3 and
// compatible stores, Google Cloud Storage, Azure Blob Storage, and directories. It accesses each of them as a bucket of
// gocloud.dev/blob:
//
//	bucket, err := blob.OpenBucket(ctx, "s3://media?region=eu-central-1") // with gocloud.dev/blob/s3blob imported
//	files, err := objectstore.New(bucket, objectstore.Options{})
//	gdpr, err := app.New(app.Config{DB: db, Models: models, Resolvers: []ports.Resolver{files}})
//
// The subject provider of the application returns refs that select the files of a subject. A ref is the key of one
// object, such as "avatars/42.png". A ref with a slash at its end, such as "uploads/42/", is a prefix and selects all
// objects whose keys begin with the prefix:
//
//	domain.NewSubject("42", domain.SubjectRef{Kind: objectstore.Name, Value: "uploads/42/"})
//
// A column can also contain the key of a file (see datamap.Annotation.Ref). Such a key selects only the object with
// exactly this key, because a user may have written the value of the column.
//
// A key is not valid if it is empty, begins or ends with a slash, or has a segment that is empty, "." or "..". It is
// also not valid if it has a backslash or a control character, is not UTF-8, or has more than 1,024 bytes. The resolver
// refuses such a key with a *domain.ResolverError. In an erasure, the worker then abandons the outbox entry with all
// its keys, and a person must examine the entry. In an export, the resolver is listed as an incomplete source.
//
// A call may come days after the erasure, and deletes every object that it finds under the ref or the key. Files of a
// person may arrive after the erasure, too, so the resolver does not compare their times. Therefore put an id that is
// never given to another person into keys and prefixes, such as the key of the users table, and no user name.
//
// To restrict the resolver to the files below a prefix, pass a blob.PrefixedBucket to [New]. See [Options] for the
// limits of an export. The package journal in the directory of this package stores the journal of erasures in a bucket.
//
// # Versions
//
// On S3, an erasure deletes every version and every delete marker of the objects, in buckets with and without
// versioning. It needs the permissions s3:ListBucketVersions and s3:DeleteObjectVersion in addition to the permissions
// to list, read and delete. S3 refuses to delete a version under a retention or a legal hold. In this case, the worker
// abandons the outbox entry.
//
// On Google Cloud Storage and Azure, an erasure deletes the current version. With object versioning or soft deletion,
// the store keeps earlier versions until a lifecycle rule of the bucket deletes them. Configure such a rule.
package objectstore
