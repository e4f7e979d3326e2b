-- A job that another operator was just moving to the dead letters was in neither of the two tables when each was looked at on its
-- own: it was then acted on without being locked, and two who acted on several such jobs could deadlock. Now what is missing is
-- looked for in both tables in one snapshot: a moved row is in exactly one of them there.
create or replace function {schema}.operator_lock(p_ids uuid[]) returns uuid[]
language plpgsql
as $queuetop$
declare
  v_deadline timestamptz := clock_timestamp() + interval '1 second';
  v_jobs uuid[];
  v_dead uuid[];
  v_missing uuid[];
begin
  loop
    -- What this transaction holds already comes again.
    v_jobs := array(select j.id from {schema}.jobs j where j.id = any(p_ids) for update skip locked);
    v_dead := array(select d.id from {schema}.dead_letter_jobs d where d.id = any(p_ids) for update skip locked);
    v_missing := array(
      (select j.id from {schema}.jobs j where j.id = any(p_ids) except select unnest(v_jobs))
      union
      (select d.id from {schema}.dead_letter_jobs d where d.id = any(p_ids) except select unnest(v_dead)));
    if v_missing = '{}' or clock_timestamp() > v_deadline then
      return v_missing;
    end if;
    perform pg_sleep(0.02);
  end loop;
end
$queuetop$;

select {schema}.queuetop_apply_rights();
