-- Dead letters by their idempotency key: whoever asks for a job by its key finds it in any state. The table is written rarely,
-- so the index costs next to nothing.
create index if not exists dead_letter_jobs_idempotency_key_idx
  on {schema}.dead_letter_jobs (idempotency_key)
  where idempotency_key is not null;

select {schema}.queuetop_apply_rights();
