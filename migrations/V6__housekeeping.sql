-- Sweeps: the reaper and pruning. They take small batches, never wait for a lock (SKIP LOCKED), can
-- be stopped anywhere and called again, and note what they did in maintenance_runs.

-- Ends the expired attempts among p_ids (locked by the caller): back to the queue, or to the dead
-- letters when it was the last one; and moves exhausted queued jobs to the dead letters.
create function {schema}.reap_rows(p_ids uuid[], out requeued bigint, out dead bigint)
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $queuetop$
declare
  v_expired uuid[];
  v_stuck uuid[];
begin
  perform set_config('queuetop.outcome', 'expired', true);
  update {schema}.jobs j
  set status = 'queued',
      run_at = now(),
      last_error = 'lease expired', -- who and which attempt: in job_failures
      locked_by = null,
      lease_until = null,
      updated_at = now()
  where j.id = any(p_ids) and j.status = 'running' and j.attempts < j.max_attempts;
  get diagnostics requeued = row_count;
  select
    array_agg(j.id) filter (where j.status = 'running'),
    array_agg(j.id) filter (where j.status = 'queued')
  into v_expired, v_stuck
  from {schema}.jobs j
  where j.id = any(p_ids) and j.attempts >= j.max_attempts;
  dead := {schema}.move_rows_to_dead_letter(v_expired, 'lease expired', 'expired')
    + {schema}.move_rows_to_dead_letter(v_stuck, null, 'unclaimable');
  perform set_config('queuetop.outcome', '', true);
end
$queuetop$;

-- Ends attempts whose lease is past its end or missing, oldest first, and moves exhausted jobs away.
-- One row that cannot be changed (a constraint, a trigger of somebody else's) does not stop the
-- others: after an error the batch is done row by row.
create function {schema}.reap_expired_jobs(
  p_batch integer default 100,
  p_queue text default null,
  out requeued bigint,
  out dead bigint
)
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $queuetop$
#variable_conflict use_column
declare
  v_ids uuid[];
  v_id uuid;
  v_one record;
  v_failed bigint := 0;
  v_error text;
begin
  perform {schema}.check_between('p_batch', p_batch, 1, 10000);
  v_ids := array(
    select j.id
    from {schema}.jobs j
    where j.status = 'running' and j.lease_until < now() and (p_queue is null or j.queue = p_queue)
    order by j.lease_until
    limit p_batch
    for update skip locked
  );
  v_ids := v_ids || array(
    select j.id
    from {schema}.jobs j
    where j.status = 'running' and j.lease_until is null and (p_queue is null or j.queue = p_queue)
    limit p_batch - cardinality(v_ids)
    for update skip locked
  );
  v_ids := v_ids || array(
    select j.id
    from {schema}.jobs j
    where j.status = 'queued' and j.attempts >= j.max_attempts and (p_queue is null or j.queue = p_queue)
    limit p_batch - cardinality(v_ids)
    for update skip locked
  );
  begin
    select r.requeued, r.dead into requeued, dead from {schema}.reap_rows(v_ids) r;
  exception when others then
    requeued := 0;
    dead := 0;
    foreach v_id in array v_ids loop
      begin
        select r.requeued, r.dead into v_one from {schema}.reap_rows(array[v_id]) r;
        requeued := requeued + v_one.requeued;
        dead := dead + v_one.dead;
      exception when others then
        v_failed := v_failed + 1;
        v_error := format('%s: %s', v_id, sqlerrm);
      end;
    end loop;
  end;
  perform {schema}.note_maintenance('reap_expired_jobs', jsonb_strip_nulls(jsonb_build_object(
    'requeued', requeued, 'dead', dead, 'failed', v_failed, 'error', left(v_error, 1000)
  )));
  perform {schema}.fold_counters_step();
end
$queuetop$;
