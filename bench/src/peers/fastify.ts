// What one would write by hand: fastify, and for a call one round trip to Redis, which counts the key's minute, and one to
// PostgreSQL, which finds the key and writes the call's log line; for a hook one durable insert, without any check.
import { createHash, randomUUID } from "node:crypto";
import { fastify } from "fastify";
import { Redis } from "ioredis";
import pg from "pg";
import { childArgument, replyToParent } from "../bench-process.ts";

export type FastifyArgument = { databaseUrl: string; redisUrl: string; secrets: string[]; callsPerMinute: number };

const CONNECTIONS = 10;
const MINUTE_MS = 60_000;
const COUNTER_SECONDS = 120;

const CREATE = `create schema if not exists bench_peer;
  create table if not exists bench_peer.key (hash bytea primary key, id int not null, name text not null);
  create table if not exists bench_peer.call (id uuid primary key, key_id int not null, at timestamptz not null);
  create table if not exists bench_peer.hook_call (id uuid primary key, hook text not null, body jsonb not null, at timestamptz not null)`;
const CALL = `with found as (select id, name from bench_peer.key where hash = $1),
  written as (insert into bench_peer.call (id, key_id, at) select $2, id, now() from found)
  select id, name from found`;
const HOOK = "insert into bench_peer.hook_call (id, hook, body, at) values ($1, $2, $3, now())";

const { databaseUrl, redisUrl, secrets, callsPerMinute } = childArgument<FastifyArgument>();
const pool = new pg.Pool({ connectionString: databaseUrl, max: CONNECTIONS });
const redis = new Redis(redisUrl);
const hashOf = (secret: string) => createHash("sha256").update(secret).digest();

await pool.query(CREATE);
await pool.query(
  `insert into bench_peer.key select decode(hash, 'hex'), ordinality, 'Key ' || ordinality
   from unnest($1::text[]) with ordinality as given (hash, ordinality) on conflict do nothing`,
  [secrets.map((secret) => hashOf(secret).toString("hex"))],
);

const app = fastify();
app.post<{ Body: { args: unknown } }>("/api/v1/tools/:tool", async (request, reply) => {
  const hash = hashOf((request.headers.authorization ?? "").slice("Bearer ".length));
  const counter = `peer:${hash.toString("base64")}:${Math.floor(Date.now() / MINUTE_MS)}`;
  const counted = await redis.pipeline().incr(counter).expire(counter, COUNTER_SECONDS).exec();
  if (Number(counted?.[0]?.[1]) > callsPerMinute) return reply.code(429).send({ success: false });
  const { rows } = await pool.query({ name: "call", text: CALL, values: [hash, randomUUID()] });
  if (rows.length === 0) return reply.code(401).send({ success: false });
  return { success: true, args: request.body.args };
});
app.post<{ Params: { hook: string } }>("/api/v1/hooks/:hook", async (request, reply) => {
  const id = randomUUID();
  await pool.query({ name: "hook", text: HOOK, values: [id, request.params.hook, request.body] });
  return reply.code(202).send({ success: true, accepted: true, delivery_id: id });
});
await app.listen({ host: "127.0.0.1", port: 0 });
const address = app.server.address();
replyToParent({ port: typeof address === "object" ? address?.port : 0 }, async () => ({}));
