"""The parser of AWS Glue's Data Quality Definition Language, generated from the official grammar (see NOTICE).

`syntax` is the only module that imports it, inside a function: it needs the extra `quality`.
"""
