import type { Socket } from "node:net";
import { createMessageReader, encodeHead, MAX_SILENT_PINGS, PING_MS, TO_SANDBOX } from "./messages.ts";

/** One end of the connection of a child. */
export type Connection = {
  send: (kind: number, body?: Buffer) => void;
  /** Bytes that the other side has not taken. */
  unsent: () => number;
  /** Ends it after what has been sent. */
  end: () => void;
  destroy: () => void;
};

type ConnectionEvents = {
  onMessage: (kind: number, body: Buffer) => void;
  onDrain?: () => void;
  /** Called once. */
  onClose: () => void;
};

const NOTHING = Buffer.alloc(0);

/** Sends and reads messages on an upgraded socket, and gives it up when the other side has been silent for seconds. */
export function openConnection(socket: Socket, head: Buffer, events: ConnectionEvents): Connection {
  const read = createMessageReader(events.onMessage);
  let silentPings = 0;
  const receive = (chunk: Buffer) => {
    silentPings = 0;
    try {
      read(chunk);
    } catch {
      socket.destroy();
    }
  };
  const send = (kind: number, body: Buffer = NOTHING) => {
    if (socket.destroyed || socket.writableEnded) return;
    socket.cork();
    socket.write(encodeHead(kind, body.length));
    if (body.length > 0) socket.write(body);
    process.nextTick(() => socket.uncork());
  };
  // Counted, not timed: a process that was held up has not yet read what came meanwhile.
  const timer = setInterval(() => {
    silentPings += 1;
    if (silentPings > MAX_SILENT_PINGS) socket.destroy();
    else send(TO_SANDBOX.ping);
  }, PING_MS);
  socket.setNoDelay(true);
  socket.setTimeout(0);
  socket.on("data", receive);
  if (events.onDrain) socket.on("drain", events.onDrain);
  // `close` follows.
  socket.on("error", () => {});
  socket.on("end", () => socket.destroy());
  socket.on("close", () => {
    clearInterval(timer);
    events.onClose();
  });
  if (head.length > 0) receive(head);
  return {
    send,
    unsent: () => socket.writableLength,
    end: () => socket.end(),
    destroy: () => socket.destroy(),
  };
}
