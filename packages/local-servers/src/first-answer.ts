import { connect } from "node:net";

const ANSWER_TIMEOUT_MS = 2_000;
const MAX_ANSWER_BYTES = 64_000;

/** Connects to a loopback port, sends `request` and answers what comes back up to the first line end, or "". */
export function firstAnswer(port: number, request: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect({ port, host: "127.0.0.1" }, () => socket.write(request));
    const finish = () => {
      socket.destroy();
      resolve(answer);
    };
    socket.setEncoding("utf8").setTimeout(ANSWER_TIMEOUT_MS, finish);
    socket.on("error", finish).on("close", finish);
    socket.on("data", (text: string) => {
      answer += text;
      if (answer.includes("\n") || answer.length > MAX_ANSWER_BYTES) finish();
    });
  });
}
