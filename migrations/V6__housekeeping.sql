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
  -- Each has an order that only its index gives. Without one the planner may take it that a third of
  -- all queued rows are exhausted, and read the table until it has found as many as p_batch.
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
    order by j.lease_until
    limit p_batch - cardinality(v_ids)
    for update skip locked
  );
  v_ids := v_ids || array(
    select j.id
    from {schema}.jobs j
    where j.status = 'queued' and j.attempts >= j.max_attempts and (p_queue is null or j.queue = p_queue)
    order by j.run_at
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

create function {schema}.check_age(p_name text, p_age interval) returns void
language plpgsql immutable
as $queuetop$
begin
  if p_age is null then
    raise exception '% must not be null', p_name using errcode = '22004';
  elsif p_age < interval '0' or p_age > interval '1000 years' then
    raise exception '% must be between nothing and 1000 years, not %', p_name, p_age using errcode = '22023';
  end if;
end
$queuetop$;

-- Removes the oldest completed jobs, at most p_batch: call it again until it removes none. With a job
-- goes its idempotency key, so the age is also how long a key protects against a second enqueue.
create function {schema}.prune_completed_jobs(p_older_than interval, p_batch integer default 1000)
returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $queuetop$
declare
  v_ids uuid[];
  v_id uuid;
  v_removed bigint := 0;
  v_failed bigint := 0;
  v_error text;
begin
  perform {schema}.check_age('p_older_than', p_older_than);
  perform {schema}.check_between('p_batch', p_batch, 1, 100000);
  v_ids := array(
    select j.id
    from {schema}.jobs j
    where j.status = 'completed' and j.completed_at < now() - p_older_than
    order by j.completed_at
    limit p_batch
    for update skip locked
  );
  -- completed by a statement that forgot to say when
  v_ids := v_ids || array(
    select j.id
    from {schema}.jobs j
    where j.status = 'completed' and j.completed_at is null and j.updated_at < now() - p_older_than
    order by j.completed_at
    limit p_batch - cardinality(v_ids)
    for update skip locked
  );
  begin
    delete from {schema}.jobs j where j.id = any(v_ids);
    get diagnostics v_removed = row_count;
  exception when others then -- somebody's foreign key holds one of them: do the others
    v_removed := 0;
    foreach v_id in array v_ids loop
      begin
        delete from {schema}.jobs j where j.id = v_id;
        v_removed := v_removed + 1;
      exception when others then
        v_failed := v_failed + 1;
        v_error := format('%s: %s', v_id, sqlerrm);
      end;
    end loop;
  end;
  perform {schema}.note_maintenance('prune_completed_jobs', jsonb_strip_nulls(jsonb_build_object(
    'removed', v_removed, 'failed', v_failed, 'error', left(v_error, 1000))));
  return v_removed;
end
$queuetop$;

-- The same for dead letters, replayed or not.
create function {schema}.prune_dead_letters(p_older_than interval, p_batch integer default 1000)
returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $queuetop$
declare
  v_ids uuid[];
  v_id uuid;
  v_removed bigint := 0;
  v_failed bigint := 0;
  v_error text;
begin
  perform {schema}.check_age('p_older_than', p_older_than);
  perform {schema}.check_between('p_batch', p_batch, 1, 100000);
  v_ids := array(
    select d.id
    from {schema}.dead_letter_jobs d
    where d.failed_at < now() - p_older_than
    order by d.failed_at
    limit p_batch
    for update skip locked
  );
  begin
    delete from {schema}.dead_letter_jobs d where d.id = any(v_ids);
    get diagnostics v_removed = row_count;
  exception when others then
    v_removed := 0;
    foreach v_id in array v_ids loop
      begin
        delete from {schema}.dead_letter_jobs d where d.id = v_id;
        v_removed := v_removed + 1;
      exception when others then
        v_failed := v_failed + 1;
        v_error := format('%s: %s', v_id, sqlerrm);
      end;
    end loop;
  end;
  perform {schema}.note_maintenance('prune_dead_letters', jsonb_strip_nulls(jsonb_build_object(
    'removed', v_removed, 'failed', v_failed, 'error', left(v_error, 1000))));
  return v_removed;
end
$queuetop$;

-- The same for what happened: failed attempts, operators' actions, and workers not heard of for so
-- long. At most p_batch of each.
create function {schema}.prune_history(p_older_than interval, p_batch integer default 1000)
returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $queuetop$
declare
  v_before timestamptz;
  v_failures bigint;
  v_actions bigint;
  v_workers bigint;
begin
  perform {schema}.check_age('p_older_than', p_older_than);
  perform {schema}.check_between('p_batch', p_batch, 1, 100000);
  v_before := now() - p_older_than;
  delete from {schema}.job_failures f where f.id = any(array(
    select o.id from {schema}.job_failures o where o.ended_at < v_before
    order by o.ended_at limit p_batch for update skip locked));
  get diagnostics v_failures = row_count;
  delete from {schema}.operator_actions a where a.id = any(array(
    select o.id from {schema}.operator_actions o where o.acted_at < v_before
    order by o.acted_at limit p_batch for update skip locked));
  get diagnostics v_actions = row_count;
  delete from {schema}.workers w where w.id = any(array(
    select o.id from {schema}.workers o where o.last_seen < v_before
    limit p_batch for update skip locked));
  get diagnostics v_workers = row_count;
  perform {schema}.note_maintenance('prune_history', jsonb_build_object(
    'job_failures', v_failures, 'operator_actions', v_actions, 'workers', v_workers));
  return v_failures + v_actions + v_workers;
end
$queuetop$;
