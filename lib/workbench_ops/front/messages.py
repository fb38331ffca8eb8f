"""What the front lets through: messages of the Spark Connect protocol, field by field. All else is refused.

A field that a newer version adds stands in no line here, so that it is refused until somebody has thought of it.
Names are those of PySpark's descriptors, without `spark.connect.`.
"""

# the calls that are answered
CALLS = {
    "ExecutePlan", "AnalyzePlan", "Config", "Interrupt", "ReattachExecute", "ReleaseExecute", "ReleaseSession",
}  # fmt: skip

_REQUEST = "session_id client_observed_server_side_session_id user_context client_type"
_FIELDS = {
    # requests
    "ExecutePlanRequest": f"{_REQUEST} operation_id plan request_options tags",
    "ExecutePlanRequest.RequestOption": "reattach_options result_chunking_options",
    "ReattachOptions": "reattachable",
    "ResultChunkingOptions": "allow_arrow_batch_chunking preferred_arrow_chunk_size",
    "AnalyzePlanRequest": f"{_REQUEST} schema tree_string is_streaming spark_version ddl_parse",
    "AnalyzePlanRequest.Schema": "plan",
    "AnalyzePlanRequest.TreeString": "plan level",
    "AnalyzePlanRequest.IsStreaming": "plan",
    "AnalyzePlanRequest.SparkVersion": "",
    "AnalyzePlanRequest.DDLParse": "ddl_string",
    "ConfigRequest": f"{_REQUEST} operation",
    "ConfigRequest.Operation": "set get get_with_default get_option unset is_modifiable",
    "ConfigRequest.Set": "pairs silent",
    "ConfigRequest.Get": "keys",
    "ConfigRequest.GetWithDefault": "pairs",
    "ConfigRequest.GetOption": "keys",
    "ConfigRequest.Unset": "keys",
    "ConfigRequest.IsModifiable": "keys",
    "KeyValue": "key value",
    "InterruptRequest": f"{_REQUEST} interrupt_type operation_tag operation_id",
    "ReattachExecuteRequest": f"{_REQUEST} operation_id last_response_id",
    "ReleaseExecuteRequest": f"{_REQUEST} operation_id release_all release_until",
    "ReleaseExecuteRequest.ReleaseAll": "",
    "ReleaseExecuteRequest.ReleaseUntil": "response_id",
    "ReleaseSessionRequest": "session_id user_context client_type",
    "UserContext": "user_id user_name",
    "Plan": "root command",
    # of the commands that of a query alone, given as a relation
    "Command": "sql_command",
    "SqlCommand": "input",
    # relations
    "Relation": (
        "common read project filter join set_op sort limit aggregate sql local_relation offset deduplicate range "
        "subquery_alias repartition to_df with_columns_renamed show_string html_string drop tail with_columns "
        "hint unpivot to_schema repartition_by_expression as_of_join with_relations transpose lateral_join "
        "unresolved_table_valued_function fill_na drop_na replace summary crosstab describe cov corr "
        "approx_quantile freq_items"
    ),
    "RelationCommon": "plan_id",
    "Read": "named_table",
    "Read.NamedTable": "unparsed_identifier",
    "SQL": "query args pos_args named_arguments pos_arguments",
    "WithRelations": "root references",
    "Project": "input expressions",
    "Filter": "input condition",
    "Join": "left right join_condition join_type using_columns join_data_type",
    "Join.JoinDataType": "is_left_struct is_right_struct",
    "LateralJoin": "left right join_condition join_type",
    "AsOfJoin": (
        "left right left_as_of right_as_of join_expr using_columns join_type tolerance allow_exact_matches "
        "direction"
    ),
    "SetOperation": "left_input right_input set_op_type is_all by_name allow_missing_columns",
    "Limit": "input limit",
    "Offset": "input offset",
    "Tail": "input limit",
    "Aggregate": "input group_type grouping_expressions aggregate_expressions pivot grouping_sets",
    "Aggregate.Pivot": "col values",
    "Aggregate.GroupingSets": "grouping_set",
    "Sort": "input order is_global",
    "Drop": "input columns column_names",
    "Deduplicate": "input column_names all_columns_as_keys",
    "LocalRelation": "data schema",
    "Range": "start end step num_partitions",
    "SubqueryAlias": "input alias qualifier",
    "Repartition": "input num_partitions shuffle",
    "RepartitionByExpression": "input partition_exprs num_partitions",
    "ShowString": "input num_rows truncate vertical",
    "HtmlString": "input num_rows truncate",
    "StatSummary": "input statistics",
    "StatDescribe": "input cols",
    "StatCrosstab": "input col1 col2",
    "StatCov": "input col1 col2",
    "StatCorr": "input col1 col2 method",
    "StatApproxQuantile": "input cols probabilities relative_error",
    "StatFreqItems": "input cols support",
    "NAFill": "input cols values",
    "NADrop": "input cols min_non_nulls",
    "NAReplace": "input cols replacements",
    "NAReplace.Replacement": "old_value new_value",
    "ToDF": "input column_names",
    "WithColumnsRenamed": "input rename_columns_map renames",
    "WithColumnsRenamed.Rename": "col_name new_col_name",
    "WithColumns": "input aliases",
    "Hint": "input name parameters",
    "Unpivot": "input ids values variable_column_name value_column_name",
    "Unpivot.Values": "values",
    "Transpose": "input index_columns",
    "UnresolvedTableValuedFunction": "function_name arguments",
    "ToSchema": "input schema",
    # expressions
    "Expression": (
        "literal unresolved_attribute unresolved_function expression_string unresolved_star alias cast "
        "unresolved_regex sort_order lambda_function window unresolved_extract_value update_fields "
        "unresolved_named_lambda_variable call_function named_argument_expression subquery_expression"
    ),
    "Expression.Window": "window_function partition_spec order_spec frame_spec",
    "Expression.Window.WindowFrame": "frame_type lower upper",
    "Expression.Window.WindowFrame.FrameBoundary": "current_row unbounded value",
    "Expression.SortOrder": "child direction null_ordering",
    "Expression.Cast": "expr type type_str eval_mode",
    "Expression.Literal": (
        "null binary boolean byte short integer long float double decimal string date timestamp timestamp_ntz "
        "calendar_interval year_month_interval day_time_interval array map struct specialized_array time data_type"
    ),
    "Expression.Literal.Decimal": "value precision scale",
    "Expression.Literal.CalendarInterval": "months days microseconds",
    "Expression.Literal.Array": "element_type elements",
    "Expression.Literal.Map": "key_type value_type keys values",
    "Expression.Literal.Struct": "struct_type elements",
    "Expression.Literal.SpecializedArray": "bools ints longs floats doubles strings",
    "Expression.Literal.Time": "nano precision",
    "Bools": "values",
    "Ints": "values",
    "Longs": "values",
    "Floats": "values",
    "Doubles": "values",
    "Strings": "values",
    "Expression.UnresolvedAttribute": "unparsed_identifier plan_id",
    "Expression.UnresolvedFunction": "function_name arguments is_distinct",
    "Expression.ExpressionString": "expression",
    "Expression.UnresolvedStar": "unparsed_target plan_id",
    "Expression.UnresolvedRegex": "col_name plan_id",
    "Expression.UnresolvedExtractValue": "child extraction",
    "Expression.UpdateFields": "struct_expression field_name value_expression",
    "Expression.Alias": "expr name",
    "Expression.LambdaFunction": "function arguments",
    "Expression.UnresolvedNamedLambdaVariable": "name_parts",
    "CallFunction": "function_name arguments",
    "NamedArgumentExpression": "key value",
    "SubqueryExpression": "plan_id subquery_type in_subquery_values",
    # types: of users' own classes none
    "DataType": (
        "null binary boolean byte short integer long float double decimal string char var_char date timestamp "
        "timestamp_ntz calendar_interval year_month_interval day_time_interval array struct map variant time"
    ),
    "DataType.Boolean": "type_variation_reference",
    "DataType.Byte": "type_variation_reference",
    "DataType.Short": "type_variation_reference",
    "DataType.Integer": "type_variation_reference",
    "DataType.Long": "type_variation_reference",
    "DataType.Float": "type_variation_reference",
    "DataType.Double": "type_variation_reference",
    "DataType.String": "type_variation_reference collation",
    "DataType.Binary": "type_variation_reference",
    "DataType.NULL": "type_variation_reference",
    "DataType.Timestamp": "type_variation_reference",
    "DataType.Date": "type_variation_reference",
    "DataType.TimestampNTZ": "type_variation_reference",
    "DataType.Time": "precision type_variation_reference",
    "DataType.CalendarInterval": "type_variation_reference",
    "DataType.YearMonthInterval": "start_field end_field type_variation_reference",
    "DataType.DayTimeInterval": "start_field end_field type_variation_reference",
    "DataType.Char": "length type_variation_reference",
    "DataType.VarChar": "length type_variation_reference",
    "DataType.Decimal": "scale precision type_variation_reference",
    "DataType.StructField": "name data_type nullable metadata",
    "DataType.Struct": "fields type_variation_reference",
    "DataType.Array": "element_type contains_null type_variation_reference",
    "DataType.Map": "key_type value_type value_contains_null type_variation_reference",
    "DataType.Variant": "type_variation_reference",
}
FIELDS = {name: frozenset(fields.split()) for name, fields in _FIELDS.items()}

# where in the client's program something was written: neither needed nor passed on
IGNORED = {"RelationCommon": {"source_info", "origin"}, "Expression": {"common"}}

# what a stream of answers may hold; figures of the scan below are left out, which count hidden rows too
ANSWERS = {"arrow_batch", "result_complete"}

# settings that a client may read; PySpark's client asks for most of them by itself
_READABLE = """
spark.sql.session.timeZone spark.sql.timestampType spark.sql.ansi.enabled spark.sql.caseSensitive
spark.sql.execution.arrow.pyspark.selfDestruct.enabled spark.sql.execution.arrow.useLargeVarTypes
spark.sql.execution.arrow.pyspark.enabled spark.sql.execution.pandas.structHandlingMode
spark.sql.execution.pandas.convertToArrowArraySafely spark.sql.execution.pandas.inferPandasDictAsMap
spark.sql.execution.pyspark.binaryAsBytes spark.sql.pyspark.inferNestedDictAsStruct.enabled
spark.sql.pyspark.legacy.inferArrayTypeFromFirstElement.enabled spark.sql.pyspark.jvmStacktrace.enabled
spark.sql.pyspark.legacy.inferMapTypeFromFirstPair.enabled spark.sql.connect.serverStacktrace.enabled
spark.sql.session.localRelationCacheThreshold spark.sql.session.localRelationChunkSizeRows
spark.sql.session.localRelationChunkSizeBytes spark.sql.session.localRelationBatchOfChunksSizeBytes
spark.sql.repl.eagerEval.enabled spark.sql.repl.eagerEval.maxNumRows spark.sql.repl.eagerEval.truncate
spark.python.sql.dataFrameDebugging.enabled spark.sql.stackTracesInDataFrameContext
spark.sql.execution.pythonUDF.arrow.enabled spark.sql.pyspark.plotting.max_rows
"""
READABLE = frozenset(_READABLE.split())
# and those it may set: how a notebook prints a frame. Others change what a filter means: a time zone, a day
SETTABLE = frozenset(name for name in READABLE if name.startswith("spark.sql.repl.eagerEval."))

REASONS = {
    "Relation.sample": "which rows a sample holds depends on rows that are hidden",
    "Relation.sample_by": "which rows a sample holds depends on rows that are hidden",
    "Relation.cached_local_relation": "frames of the client's own are taken as far as they fit into the query",
    "Relation.chunked_cached_local_relation": "frames of the client's own are taken as far as they fit into the "
    "query",
    "Relation.catalog": "the catalog also tells of what is not shared",
    "Relation.map_partitions": "functions of the client's own run where hidden rows are",
    "Relation.group_map": "functions of the client's own run where hidden rows are",
    "Relation.co_group_map": "functions of the client's own run where hidden rows are",
    "Expression.common_inline_user_defined_function": "functions of the client's own run where hidden rows are",
    "Read.data_source": "files and paths are behind the tables, and so is what is hidden in them",
    "Read.is_streaming": "a stream reads commits as they are, with what is hidden in them",
    "Read.NamedTable.options": "options of a read choose another snapshot or branch than the one that is shared",
    "Expression.UnresolvedAttribute.is_metadata_column": "columns of metadata tell of files with hidden rows",
    "AnalyzePlanRequest.explain": "a plan shows what is hidden and by which condition",
    "AnalyzePlanRequest.input_files": "files are behind the tables, and so is what is hidden in them",
    "AnalyzePlanRequest.persist": "a cache outlives the grant under which it was filled",
    "Command.checkpoint_command": "a checkpoint outlives the grant under which it was written",
    "Command.create_dataframe_view": "a view outlives the grant under which it was made",
    "Command.register_function": "functions of the client's own run where hidden rows are",
    "ConfigRequest.Operation.get_all": "the settings hold keys of the server; ask for one by its name",
    "Plan.compressed_operation": "the front reads what it lets through; send the plan as it is",
}
