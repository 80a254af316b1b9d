// A server in its own process, for tests that kill or stop it. Replies to every call except those named "hang"; any
// message drains it.
import { responseTo } from "./verify-client.ts";
import { startVerifyServer } from "./verify-server.ts";

const server = await startVerifyServer(
  ({ tool }) => (tool === "hang" ? new Promise(() => undefined) : Promise.resolve(responseTo(tool, `${process.pid}`))),
  { port: Number(process.argv[2] ?? 0) },
);
process.send?.(server.port);
process.on("message", () => void server.drain());
process.on("disconnect", () => process.exit());
