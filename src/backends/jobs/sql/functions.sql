-- Which of the functions $2 of schema $1 there are, whether this role may call them, and a role that could be granted for it.
select p.proname::text as name,
       has_schema_privilege(n.oid, 'usage') and has_function_privilege(p.oid, 'execute') as callable,
       (select r.rolname::text
        from pg_catalog.aclexplode(p.proacl) as a
        join pg_catalog.pg_roles r on r.oid = a.grantee
        where a.privilege_type = 'EXECUTE' and a.grantee <> p.proowner and not r.rolcanlogin
        order by r.rolname limit 1) as granted_to
from pg_catalog.pg_proc p
join pg_catalog.pg_namespace n on n.oid = p.pronamespace
where n.nspname = $1 and p.proname = any($2)
