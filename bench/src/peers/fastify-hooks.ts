// The least that a service which accepts webhooks can do: fastify, and one durable insert. It verifies nothing.
import { randomUUID } from "node:crypto";
import { fastify } from "fastify";
import pg from "pg";
import { childArgument, replyToParent } from "../machine/child-process.ts";

export type FastifyInsertArgument = { databaseUrl: string };

const CONNECTIONS = 10;
const KEEP_ALIVE_MS = 72_000;
const CREATE = `create schema if not exists bench_peer;
  create table if not exists bench_peer.hook_call (id uuid primary key, hook text not null, body jsonb not null, at timestamptz not null)`;
const INSERT = "insert into bench_peer.hook_call (id, hook, body, at) values ($1, $2, $3, now())";

const { databaseUrl } = childArgument<FastifyInsertArgument>();
const pool = new pg.Pool({ connectionString: databaseUrl, max: CONNECTIONS });
await pool.query(CREATE);

const app = fastify({ keepAliveTimeout: KEEP_ALIVE_MS });
app.post<{ Params: { hook: string } }>("/api/v1/hooks/:hook", async (request, reply) => {
  const id = randomUUID();
  await pool.query({ name: "insert", text: INSERT, values: [id, request.params.hook, request.body] });
  return reply.code(202).send({ success: true, accepted: true, delivery_id: id });
});
await app.listen({ host: "127.0.0.1", port: 0 });
const address = app.server.address();
replyToParent({ port: typeof address === "object" ? address?.port : 0 }, async () => ({}));
