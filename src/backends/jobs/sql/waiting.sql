(
  -- The deltas that are not folded yet (migration V16). Folded ones below `top` are never looked at, though vacuum may
  -- not have removed them for long. Restored into another server, where transactions count from elsewhere, everything is read.
  select w.* from {schema}.counter_deltas w
  where w.txid >= (select case when f.top > txid_snapshot_xmax(txid_current_snapshot()) then 0 else f.top end from {schema}.counter_fold f)
  union all
  select w.* from {schema}.counter_deltas w
  where w.txid = any((select case when f.top > txid_snapshot_xmax(txid_current_snapshot()) then '{}' else f.open end
                      from {schema}.counter_fold f)::bigint[])
)
