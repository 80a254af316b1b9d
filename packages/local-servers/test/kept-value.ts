import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { Redis } from "ioredis";
import { Client } from "pg";
import type { LocalServer } from "../src/server-process.ts";

/** Leaves `value` in a server, for `read`, instead of what was left before. */
export async function write(server: LocalServer, value: string): Promise<void> {
  if (server.name === "postgres") {
    await query(server.url, "create table if not exists kept (value text)");
    await query(server.url, "delete from kept");
    await query(server.url, `insert into kept values ('${value}')`);
  } else if (server.name === "nats") {
    const connection = await connectTo(server.url);
    await (await jetstreamManager(connection)).streams.add({ name: "kept", subjects: ["kept.>"] });
    await jetstream(connection).publish("kept.value", value);
    await connection.close();
  } else {
    const redis = new Redis(server.url);
    await redis.set("kept", value);
    redis.disconnect();
  }
}

export async function read(server: LocalServer): Promise<string | undefined> {
  if (server.name === "postgres") return (await query(server.url, "select value from kept"))[0]?.value;
  if (server.name === "nats") {
    const connection = await connectTo(server.url);
    const message = await (await jetstreamManager(connection)).streams.getMessage("kept", {
      last_by_subj: "kept.value",
    });
    await connection.close();
    return message?.string();
  }
  const redis = new Redis(server.url);
  const value = await redis.get("kept");
  redis.disconnect();
  return value ?? undefined;
}

export async function query(url: string, text: string) {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/** The client takes credentials separately from the address. */
function connectTo(url: string) {
  const { host, username: user, password: pass } = new URL(url);
  return connect({ servers: host, user, pass });
}
