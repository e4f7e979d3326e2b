-- One job, live or dead. $1 is its id; $2 and $3 are the stamps of the payload and of the error that are known already (null:
-- none): what is still the same is not sent again.
--
-- The payload is printed once, in a subquery that `offset 0` keeps from being merged into the outer one: each mention of
-- payload::text would decompress and print all of it again (5 MB: 45 ms once, 90 ms twice). Its stamp is its stored size,
-- which is known without decompressing it; small ones are simply sent. The error is text: its size and its beginning are
-- had without reading the rest.
select clock_timestamp() as now, {columns}, {facts}, {more}, {payload}, {error}
from {schema}.{table} j
{payload_from}
{error_from}
where j.id = $1
