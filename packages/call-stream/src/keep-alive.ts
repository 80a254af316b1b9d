import { constants, type Http2Session } from "node:http2";
import { Code, ConnectError } from "@connectrpc/connect";

const TICK_MS = 1_000;
/** Ticks that a peer may be silent for before it is probed, and before it counts as dead. */
const SILENT_UNTIL_PROBE = 1;
const SILENT_UNTIL_LOST = 3;

/**
 * Probes a connection while it is in use, and destroys it when its peer does not respond within 4 s, even if its calls
 * have ended by then: otherwise calls with less time than that would all fail on a dead connection.
 *
 * It counts ticks of its timer, not time, so that a pause of this process does not look like a silent peer. It probes
 * with empty SETTINGS, which the peer must acknowledge: Node sends no pings once the peer has sent GOAWAY, so a draining
 * server with open calls would look dead.
 */
export function keepAlive(session: Http2Session, isInUse: () => boolean): void {
  let silentTicks = 0;
  let nextStreamId: number | undefined = 1;
  const heard = () => {
    silentTicks = 0;
  };
  const watch = () => {
    if (session.destroyed || session.connecting) return;
    // A call may begin and end between two ticks.
    const wasUsed = session.state.nextStreamID !== nextStreamId;
    nextStreamId = session.state.nextStreamID;
    if (silentTicks === 0 && !wasUsed && !isInUse()) return;
    silentTicks += 1;
    if (silentTicks > SILENT_UNTIL_LOST) {
      session.destroy(new ConnectError("the server does not respond", Code.Unavailable), constants.NGHTTP2_CANCEL);
    } else if (silentTicks > SILENT_UNTIL_PROBE) {
      session.settings({}, (error) => {
        if (error === null) heard();
      });
    }
  };
  const timer = setInterval(watch, TICK_MS).unref();
  session.once("close", () => clearInterval(timer));
}
