import { MEMBERS } from "../../text/en/members.ts";
import { SecretOnce } from "../../ui/dialog/secret-once.tsx";

interface LinkOnceProps {
  title: string;
  text: string;
  /** Of the page on this server, with the token in its fragment. */
  path: string;
  onClose: () => void;
}

/** A link that nobody can show again. */
export function LinkOnce({ path, ...dialog }: LinkOnceProps) {
  const link = new URL(path, location.origin).href;
  return <SecretOnce {...dialog} secret="" values={[[MEMBERS.link, link]]} fileName="toolgate-link.txt" />;
}
