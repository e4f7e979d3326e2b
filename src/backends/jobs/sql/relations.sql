-- What there is in schema $1, and what this role may read of it: a row for each table. `ctid` counts as a column: a right on
-- single columns does not cover it, and in partitions it names no row.
select c.relname::text as name,
       array(select a.attname::text from pg_catalog.pg_attribute a
             where a.attrelid = c.oid and (a.attnum > 0 or a.attname = 'ctid' and c.relkind = 'r')
               and not a.attisdropped) as columns,
       has_schema_privilege(n.oid, 'usage') as usable,
       array(select a.attname::text from pg_catalog.pg_attribute a
             where a.attrelid = c.oid and (a.attnum > 0 or a.attname = 'ctid' and c.relkind = 'r')
               and not a.attisdropped and has_column_privilege(c.oid, a.attnum, 'select')) as readable,
       -- Row level security that leaves rows out: on for this role, and no policy that shows it everything.
       row_security_active(c.oid) and not exists (
         select from pg_catalog.pg_policy p
         where p.polrelid = c.oid and p.polpermissive and p.polcmd in ('*', 'r')
           and pg_catalog.pg_get_expr(p.polqual, p.polrelid) = 'true'
           and (p.polroles = '{0}' or exists (
             select from unnest(p.polroles) as r (role) where r.role = 0 or pg_has_role(r.role, 'usage')))) as hidden,
       array(select pg_catalog.pg_get_indexdef(i.indexrelid) from pg_catalog.pg_index i
             where i.indrelid = c.oid and i.indisvalid) as indexes
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
where n.nspname = $1 and c.relkind in ('r', 'p') and c.relname = any($2)
