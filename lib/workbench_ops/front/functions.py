"""The functions that the front lets through, in SQL and in frames: each gives the same for the same arguments.

Left out on purpose: those that call code (java_method, reflect), that tell of files and partitions
(input_file_name, monotonically_increasing_id), whose result is a matter of chance (rand, uuid, shuffle), that
raise an error on purpose, that read XML, which may name files, and that tell of the server (version,
current_user).
"""

_SCALAR = """
abs acos acosh add_months aes_decrypt aes_encrypt aggregate array array_append array_compact array_contains
array_distinct array_except array_insert array_intersect array_join array_max array_min array_position
array_prepend array_remove array_repeat array_size array_sort array_union arrays_overlap arrays_zip ascii asin
asinh atan atan2 atanh base64 between bigint bin binary bit_count bit_get bit_length bitmap_bit_position
bitmap_bucket_number bitmap_count boolean bround btrim cardinality cbrt ceil ceiling char char_length
character_length chr coalesce collate collation concat concat_ws contains conv convert_timezone cos cosh cot
crc32 csc curdate current_date current_timestamp current_timezone date date_add date_diff date_format
date_from_unix_date date_part date_sub date_trunc dateadd datediff datepart day dayname dayofmonth dayofweek
dayofyear decimal decode degrees double e element_at elt encode endswith equal_null exists exp expm1 extract
factorial filter find_in_set flatten float floor forall format_number format_string from_csv from_json
from_unixtime from_utc_timestamp get get_json_object getbit greatest hash hex hour hypot if ifnull ilike in
initcap instr int is_valid_utf8 is_variant_null isnan isnotnull isnull json_array_length json_object_keys lcase
least left len length levenshtein like ln localtimestamp locate log log10 log1p log2 lower lpad ltrim make_date
make_dt_interval make_interval make_time make_timestamp make_timestamp_ltz make_timestamp_ntz make_valid_utf8
make_ym_interval map map_concat map_contains_key map_entries map_filter map_from_arrays map_from_entries
map_keys map_values map_zip_with mask md5 minute mod month monthname months_between named_struct nanvl negative
next_day not now nullif nullifzero nvl nvl2 octet_length or and overlay parse_json parse_url pi pmod position
positive pow power printf quarter quote radians reduce regexp regexp_count regexp_extract regexp_extract_all
regexp_instr regexp_like regexp_replace regexp_substr repeat replace reverse right rint rlike round rpad rtrim
schema_of_csv schema_of_json schema_of_variant sec second sentences sequence sha sha1 sha2 shiftleft shiftright
shiftrightunsigned sign signum sin sinh size slice smallint sort_array soundex space split split_part sqrt
startswith str_to_map string struct substr substring substring_index tan tanh time_diff time_trunc timestamp
timestamp_micros timestamp_millis timestamp_seconds timestampadd timestampdiff tinyint to_binary to_char to_csv
to_date to_json to_number to_time to_timestamp to_timestamp_ltz to_timestamp_ntz to_unix_timestamp
to_utc_timestamp to_varchar to_variant_object transform transform_keys transform_values translate trim trunc
try_add try_aes_decrypt try_divide try_element_at try_make_interval try_make_timestamp try_make_timestamp_ltz
try_make_timestamp_ntz try_mod try_multiply try_parse_json try_parse_url try_subtract try_to_binary try_to_date
try_to_number try_to_time try_to_timestamp try_url_decode try_validate_utf8 try_variant_get typeof ucase
unbase64 unhex unix_date unix_micros unix_millis unix_seconds unix_timestamp upper url_decode url_encode
validate_utf8 variant_get weekday weekofyear when width_bucket window window_time session_window xxhash64 year
zeroifnull zip_with
"""
_AGGREGATE = """
any any_value approx_count_distinct approx_percentile array_agg avg bit_and bit_or bit_xor bitmap_and_agg
bitmap_construct_agg bitmap_or_agg bool_and bool_or collect_list collect_set corr count count_if
count_min_sketch covar_pop covar_samp every first first_value grouping grouping_id histogram_numeric
hll_sketch_agg hll_sketch_estimate hll_union hll_union_agg kurtosis last last_value listagg max max_by mean
median min min_by mode percentile percentile_approx percentile_cont percentile_disc product regr_avgx regr_avgy
regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy schema_of_variant_agg skewness some std
stddev stddev_pop stddev_samp string_agg sum try_avg try_sum var_pop var_samp variance cume_dist dense_rank lag
lead nth_value ntile percent_rank rank row_number
"""
_GENERATOR = """
explode explode_outer inline inline_outer json_tuple posexplode posexplode_outer stack
"""
# names that frames have for what SQL writes as a sign; `isNaN` and the like are the client's own spelling
_SIGNS = "% & * + - / < <= <=> == = > >= ^ | || ~ ! != <> div"

# of these none fails on a hidden row: its cells are NULL, and of NULL they make NULL; or no filter has them
_CONDITIONS = "< <= <=> == = > >= != <> and or not in like isnull isnotnull between"
_OF_SKETCHES = "hll_sketch_estimate hll_union"  # of one row each, and they fail on what is no sketch
SIMPLE = frozenset((_AGGREGATE + _CONDITIONS).split()) - frozenset(_OF_SKETCHES.split())

FUNCTIONS = frozenset((_SCALAR + _AGGREGATE + _GENERATOR + _SIGNS).split())
TABLE_FUNCTIONS = frozenset((_GENERATOR + "range").split())
HINTS = frozenset({"broadcast", "merge", "shuffle_hash", "shuffle_merge", "shuffle_replicate_nl"})
