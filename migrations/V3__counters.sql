-- Counters come here.
create function {schema}.fold_counters_step() returns void
language sql
as $queuetop$
  select
$queuetop$;
