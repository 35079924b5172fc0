package objectstore_test

import (
	"context"
	"fmt"

	"gocloud.dev/blob"
	"gocloud.dev/blob/memblob"

	"github.com/habeas-data/habeas/adapters/objectstore"
	"github.com/habeas-data/habeas/domain"
)

func ExampleNew() {
	ctx := context.Background()
	bucket := memblob.OpenBucket(nil) // or blob.OpenBucket(ctx, "s3://media?region=eu-central-1")
	check(bucket.WriteAll(ctx, "media/uploads/42/me.png", []byte("a picture"), nil))
	media := blob.PrefixedBucket(bucket, "media/") // the resolver cannot reach objects outside of media/
	defer func() { check(media.Close()) }()

	files, err := objectstore.New(media, objectstore.Options{}) // for app.Config.Resolvers
	check(err)
	uploads := domain.SubjectRef{Kind: objectstore.Name, Value: "uploads/42/"} // from the subject provider
	records, err := files.ExportSubject(ctx, uploads)
	check(err)
	for _, record := range records {
		value := record.Value
		if content, ok := value.([]byte); ok {
			value = string(content)
		}
		fmt.Println(record.Field, value)
	}
	_, err = files.EraseSubject(ctx, uploads, domain.ErasureCall{EntryID: "an entry of the outbox"})
	check(err)
	left, err := media.Exists(ctx, "uploads/42/me.png")
	fmt.Println(left, err)
	// Output:
	// object.name uploads/42/me.png
	// object.size 9
	// object.content a picture
	// false <nil>
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
