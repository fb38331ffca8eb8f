"""Values in structs, arrays, maps and variants as texts, which can be compared and hashed where they cannot."""

# Spark's options of `to_json`: texts that differ wherever the values do, in every session. Where nothing is said
# times have milliseconds, and fields that are null are left out.
AS_JSON = {
    "ignoreNullFields": "false",
    "timeZone": "UTC",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
