package objectstore

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"gocloud.dev/blob"
)

// eraseVersions deletes every version and every delete marker of the objects of a place (one object, or all objects
// below a prefix). In a bucket without versioning, each object has one version. The result supported is false if the
// store does not support versions.
func (r *Resolver) eraseVersions(ctx context.Context, client *s3.Client, p place) (
	erased int, supported bool, err error,
) {
	input, err := r.versionsOf(ctx, p)
	if err != nil || input == nil {
		return 0, false, err
	}
	for first := (types.ObjectIdentifier{}); ; {
		listed, err := client.ListObjectVersions(ctx, input)
		if hasNoVersions(err) {
			return 0, false, nil
		}
		if err != nil {
			return erased, true, r.failed(ctx, "a listing of versions", err)
		}
		page := identifiers(listed, *input.Prefix, !p.isPrefix)
		switch {
		case len(page) == 0:
			return erased, true, nil
		case first.Key != nil && *page[0].Key == *first.Key && text(page[0].VersionId) == text(first.VersionId):
			return erased, true, r.later("a version still exists after its deletion")
		}
		first = page[0]
		if err := r.deleteVersions(ctx, client, *input.Bucket, page); err != nil {
			return erased, true, err
		}
		erased += len(page)
	}
}

// versionsOf returns a ListObjectVersions request for a place. It copies the name of the bucket and the prefix from a
// list request that gocloud prepares. The prefix can differ from the prefix of the place, because a blob.PrefixedBucket
// changes it. versionsOf returns nil if the store is not S3.
func (r *Resolver) versionsOf(ctx context.Context, p place) (*s3.ListObjectVersionsInput, error) {
	var input *s3.ListObjectVersionsInput
	_, _, err := r.bucket.ListPage(ctx, blob.FirstPageToken, 1, &blob.ListOptions{
		Prefix: p.name,
		BeforeList: func(as func(any) bool) error {
			var request *s3.ListObjectsV2Input
			if as(&request) && request.Bucket != nil && request.Prefix != nil {
				input = &s3.ListObjectVersionsInput{Bucket: request.Bucket, Prefix: request.Prefix}
			}
			return nil
		},
	})
	if err != nil {
		return nil, r.failed(ctx, "a listing", err)
	}
	return input, nil
}

// identifiers returns the versions and delete markers on one page of a listing. The listing contains all keys that
// begin with the given key. If exact is set, identifiers returns only the versions and delete markers of the given key
// itself.
func identifiers(page *s3.ListObjectVersionsOutput, key string, exact bool) (found []types.ObjectIdentifier) {
	add := func(name, version *string) {
		if name != nil && (!exact || *name == key) {
			found = append(found, types.ObjectIdentifier{Key: name, VersionId: version})
		}
	}
	for _, version := range page.Versions {
		add(version.Key, version.VersionId)
	}
	for _, marker := range page.DeleteMarkers {
		add(marker.Key, marker.VersionId)
	}
	return found
}

// deleteVersions deletes the given versions. It returns an error if the request fails, or if the store permanently
// refuses to delete a version. It ignores other errors for single versions: if a version still exists, the next listing
// contains the version again.
func (r *Resolver) deleteVersions(
	ctx context.Context, client *s3.Client, bucket string, versions []types.ObjectIdentifier,
) error {
	quiet := true
	deleted, err := client.DeleteObjects(ctx, &s3.DeleteObjectsInput{
		Bucket: &bucket, Delete: &types.Delete{Objects: versions, Quiet: &quiet},
	})
	if err != nil {
		return r.failed(ctx, "a deletion of versions", err)
	}
	for _, failure := range deleted.Errors {
		switch text(failure.Code) {
		case "AccessDenied", "InvalidRequest", "MethodNotAllowed":
			return r.refused("a deletion of a version was refused: check legal holds, retention and permissions")
		}
	}
	return nil
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
