-- Stops here, before anything is changed, where the rest would do harm.
do $queuetop$
declare
  v_from constant integer := {from}; -- null: not installed
  v_version integer;
  v_name text;
begin
  if current_setting('server_version_num')::integer < 130000 then
    raise exception 'queuetop needs PostgreSQL 13 or newer';
  end if;

  if to_regclass({history}) is not null then
    execute format('select max(version) from %s', {history}) into v_version;
  end if;
  if v_version is distinct from v_from then
    raise exception 'this script is for version % of the schema, found is %',
      coalesce(v_from::text, 'none'), coalesce(v_version::text, 'none');
  end if;

  for v_name in
    select format('%I.%I', n.nspname, c.relname)
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    where v_from is null and n.nspname = {schema}
      and (c.relname = any(array[{ours}]::text[])
        or c.relname = any(array[{adoptable}]::text[])
          and (c.relkind <> 'r' or exists (
            select from pg_inherits i where c.oid in (i.inhrelid, i.inhparent))))
  loop
    raise exception '% is not queuetop''s and cannot be taken over', v_name;
  end loop;

  for v_name in
    select format('%I.%I(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid))
    from pg_proc p
    join pg_namespace n on n.oid = p.pronamespace
    where n.nspname = {schema} and p.proname = any(array[{functions}]::text[])
  loop
    if not {replace} then
      raise exception 'function % is not queuetop''s but has a name it needs', v_name;
    end if;
    execute 'drop function ' || v_name;
  end loop;
end
$queuetop$;
