"""Which IAM actions an operation needs: AWS's Service Authorization Reference, as of November 2026.

An operation that is missing here is not guessed: the policy says that it is missing.
"""

S3_OBJECT = {
    "GetObject": ("GetObject",),
    "HeadObject": ("GetObject",),
    "PutObject": ("PutObject",),
    "CopyObject": ("PutObject",),  # and GetObject where it comes from
    "UploadPartCopy": ("PutObject",),
    "CreateMultipartUpload": ("PutObject", "AbortMultipartUpload"),  # a client aborts what fails
    "UploadPart": ("PutObject",),
    "CompleteMultipartUpload": ("PutObject",),
    "AbortMultipartUpload": ("AbortMultipartUpload",),
    "ListParts": ("ListMultipartUploadParts",),
    "DeleteObject": ("DeleteObject",),
    "DeleteObjects": ("DeleteObject",),
    "RestoreObject": ("RestoreObject",),
    "GetObjectTagging": ("GetObjectTagging",),
    "PutObjectTagging": ("PutObjectTagging",),
    "DeleteObjectTagging": ("DeleteObjectTagging",),
}
S3_EXTRAS = {"tagging": "PutObjectTagging", "acl": "PutObjectAcl"}  # parameters that ask for a right of their own
S3_VERSIONS = {"GetObject": "GetObjectVersion", "DeleteObject": "DeleteObjectVersion"}
S3_LISTING = {
    "ListObjects": "ListBucket",
    "ListObjectsV2": "ListBucket",
    "ListObjectVersions": "ListBucketVersions",
}
S3_BUCKET = {
    "HeadBucket": "ListBucket",
    "CreateBucket": "CreateBucket",
    "DeleteBucket": "DeleteBucket",
    "GetBucketLocation": "GetBucketLocation",
    "GetBucketVersioning": "GetBucketVersioning",
    "PutBucketVersioning": "PutBucketVersioning",
    "ListMultipartUploads": "ListBucketMultipartUploads",
    "GetBucketLifecycleConfiguration": "GetLifecycleConfiguration",
}
_DATABASE = ("catalog", "database")
_TABLE = (*_DATABASE, "table")
GLUE = {
    "CreateDatabase": _DATABASE,
    "GetDatabase": _DATABASE,
    "GetDatabases": _DATABASE,
    "UpdateDatabase": _DATABASE,
    "DeleteDatabase": (*_TABLE, "userDefinedFunction"),  # with what is in it
    "CreateTable": _TABLE,
    "GetTable": _TABLE,
    "GetTables": _TABLE,
    "UpdateTable": _TABLE,
    "DeleteTable": _TABLE,
    "GetTableVersions": _TABLE,
    "GetPartitions": _TABLE,
}
KINESIS = {
    "AddTagsToStream", "CreateStream", "DecreaseStreamRetentionPeriod", "DeleteStream", "DescribeStream",
    "DescribeStreamSummary", "GetRecords", "GetShardIterator", "IncreaseStreamRetentionPeriod", "ListShards",
    "ListTagsForStream", "MergeShards", "PutRecord", "PutRecords", "SplitShard",
}  # fmt: skip
EVERYWHERE = {("s3", "ListBuckets"): "s3:ListAllMyBuckets", ("kinesis", "ListStreams"): "kinesis:ListStreams"}
FREE = {("sts", "GetCallerIdentity"), ("sts", "GetSessionToken")}  # no right is asked for them
