-- The characters of a text of job $1 from $2 on, at most $3 of them. Each call prints a payload as a whole again.
select p.stamp, substr(x.t, $2 + 1, $3) as text, octet_length(x.t)::bigint as bytes, length(x.t) > $2 + $3 as more
from {schema}.{table} j
cross join lateral (select {text} as t offset 0) x
cross join lateral (select {stamp} as stamp offset 0) p
where j.id = $1 and x.t is not null
