import type { Redis } from "ioredis";

/** A script that decides one request at a time. */
interface BatchedScript {
  /** The command that it becomes on the connection. */
  name: string;
  /**
   * Lua that defines `decide(key, value)`: decides the request whose keys follow `KEYS[key]` and whose values follow
   * `ARGV[value]`, and returns its reply.
   */
  lua: string;
  keysPerRequest: number;
  valuesPerRequest: number;
}

type Command = (this: Redis, ...args: (string | number)[]) => Promise<unknown[]>;

interface Batch {
  readonly keys: string[];
  readonly values: (string | number)[];
  readonly replies: Promise<unknown[]>;
  count: number;
}

/** Redis serves nobody else while a script runs. */
const MAX_REQUESTS = 64;

/**
 * Runs a script in Redis for requests one by one, but sends those that come together as one command: most of what a
 * command costs, here and in Redis, does not depend on how much it does. Returns a function that sends a request and
 * resolves to its reply. A request that fails in the script rejects alone; one whose command fails may have been decided or
 * not.
 */
export function createScriptBatches(
  redis: Redis,
  { name, lua, keysPerRequest, valuesPerRequest }: BatchedScript,
): (keys: string[], values: (string | number)[]) => Promise<unknown> {
  redis.defineCommand(name, { lua: batched(lua, keysPerRequest, valuesPerRequest) });
  // They have been collected already, so the client need not collect commands for another turn.
  const { autoPipeliningIgnoredCommands = [] } = redis.options;
  redis.options.autoPipeliningIgnoredCommands = [...autoPipeliningIgnoredCommands, name];
  const command = (redis as unknown as Record<string, Command>)[name] as Command;
  let open: Batch | undefined;
  let commandsUnderWay = 0;

  async function send(batch: Batch): Promise<unknown[]> {
    if (open === batch) open = undefined;
    commandsUnderWay += 1;
    try {
      return await command.call(redis, batch.keys.length, ...batch.keys, ...batch.values);
    } finally {
      commandsUnderWay -= 1;
    }
  }

  function openBatch(): Batch {
    const { promise, resolve } = Promise.withResolvers<unknown[]>();
    const batch: Batch = { keys: [], values: [], replies: promise, count: 0 };
    // While Redis has nothing to do, before the next event; otherwise with what comes in this turn of the event loop.
    if (commandsUnderWay === 0) process.nextTick(() => resolve(send(batch)));
    else setImmediate(() => resolve(send(batch)));
    return batch;
  }

  return async (keys, values) => {
    // Otherwise the requests after it would get the wrong keys.
    if (keys.length !== keysPerRequest || values.length !== valuesPerRequest)
      throw new Error(`${name}: wrong arguments`);
    open ??= openBatch();
    const batch = open;
    const place = batch.count;
    batch.keys.push(...keys);
    batch.values.push(...values);
    batch.count += 1;
    if (batch.count === MAX_REQUESTS) open = undefined;
    const reply = (await batch.replies)[place];
    if (reply instanceof Error) throw reply;
    return reply;
  };
}

function batched(lua: string, keysPerRequest: number, valuesPerRequest: number): string {
  return `${lua}
local replies = {}
for request = 0, #KEYS / ${keysPerRequest} - 1 do
  local ok, reply = pcall(decide, request * ${keysPerRequest}, request * ${valuesPerRequest})
  if not ok and type(reply) ~= 'table' then reply = {err = reply} end
  -- A nil would cut off the replies after it.
  replies[request + 1] = reply or false
end
return replies`;
}
