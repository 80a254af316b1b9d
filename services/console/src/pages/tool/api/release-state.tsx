import { Link } from "@tanstack/react-router";
import type { explainRelease } from "@toolgate/api-examples/release";
import type { Tool } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import { useCanManage } from "../../../rpc/use-session.ts";
import { API_TAB, withoutEffectText } from "../../../text/en/tools/api-tab.ts";
import { Notice } from "../../../ui/page/notice.tsx";

interface ReleaseStateProps {
  tool: Tool;
  release: ReturnType<typeof explainRelease>;
}

/** What keeps keys from calling the tool; nothing when they can. */
export function ReleaseState({ tool, release }: ReleaseStateProps) {
  const canManage = useCanManage();
  const { released, releasedWithoutEffect, async } = release;
  const { external_api, public_api } = tool.definition ?? {};
  const isOffered = !released && !async;
  const offer = canManage ? (
    <Link to="/builder" search={{ tool: tool.name }}>
      {API_TAB.release}
    </Link>
  ) : (
    <p>{API_TAB.askManager}</p>
  );
  return (
    <>
      {!released && !releasedWithoutEffect && (
        // [BLD-28] [BLD-29]
        <Notice tone="info" title={API_TAB.unreleased}>
          <p>{API_TAB.unreleasedText}</p>
          {public_api === true && <p>{API_TAB.publicIsSet}</p>}
          {isOffered && offer}
        </Notice>
      )}
      {releasedWithoutEffect && (
        // [BLD-30]
        <Notice tone="warn" title={API_TAB.withoutEffect}>
          <p>{withoutEffectText(JSON.stringify(external_api))}</p>
          {isOffered && offer}
        </Notice>
      )}
      {async && (
        // [BLD-31]
        <Notice tone="warn" title={API_TAB.async}>
          <p>{API_TAB.asyncText}</p>
        </Notice>
      )}
    </>
  );
}
