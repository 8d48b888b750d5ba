"""
evenkeel, the one name that an installation brings: `evenkeel.engine`, `evenkeel.dags`, `evenkeel.sql` and so on.

In the repository each of these is a folder at the top; the links beside this file put them under the name. A wheel
holds real folders. So nobody's own `dags`, `sql` or `engine` on the import path can stand in the way of ours.
"""
