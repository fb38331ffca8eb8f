"""A page and its GraphQL for readers of a policy: log in, pick a table, see rows with the hidden cells marked.

users      who may log in, and as which principal
sessions   who is logged in, kept by the server
rows       an ordered part of what a principal sees of a table
sharing    tables that a principal may open, decided anew for each request
schema     GraphQL
app        routes: form, cookie, pages, GraphQL
serving    the server, on loopback
asking     a program's questions
"""
