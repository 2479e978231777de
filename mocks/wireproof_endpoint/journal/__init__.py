"""What an endpoint was asked, what it sent, and why: kept for a page, for a file, and for the assertions of tests.

Requests are noted as they come and pieces as they go out, by reference and within bounds, because every answer pays for
it. Whatever costs more is done when somebody looks: masking keys, cutting frames, saying why a script did not match.
"""
