import type { Proposal } from "@toolgate/gen/toolgate/tool_runner/v1/proposal_pb";
import { failureOf } from "../../rpc/errors.ts";
import { BUILDER } from "../../text/en/assistants/builder.ts";
import { EXPOSURE } from "../../text/en/tools/tool-editor.ts";
import { FLAGS } from "../../text/en/tools/tools.ts";
import { Button } from "../../ui/button.tsx";
import { FailureText } from "../../ui/page/failure.tsx";
import { Time } from "../../ui/time.tsx";
import { WhoMayCall } from "../tool/exposure/tool-exposure.tsx";
import styles from "./builder.module.css";
import { useConfirmProposal } from "./use-confirm-proposal.ts";

/** [EXPO-2] Asks before the change is made, in words that say who may then call the tool. */
export function ProposalQuestion({ proposal, orYes }: { proposal: Proposal; orYes: boolean }) {
  const { id, tool, baseVersion, after = {}, newlyExposed, expiresAt } = proposal;
  const { confirm, isPending, error } = useConfirmProposal();
  const opens = newlyExposed.length > 0;
  const next = baseVersion + 1;
  return (
    <div className={styles.question}>
      {opens ? (
        <>
          <p>{EXPOSURE.newlySet}</p>
          <ul>
            {newlyExposed.map((flag) => (
              <li key={flag}>
                <strong>{FLAGS[flag]?.label}</strong> (<code>{flag}</code>)
              </li>
            ))}
          </ul>
          <WhoMayCall tool={tool} definition={after} />
        </>
      ) : (
        <p className={styles.dim}>{BUILDER.nothingOpened}</p>
      )}
      {error && <FailureText failure={failureOf(error)} />}
      <p>
        <strong>{opens ? BUILDER.opens(tool, next) : BUILDER.saves(next)}</strong>
      </p>
      <div className={styles.answer}>
        <Button
          kind={opens ? "danger" : "primary"}
          pending={isPending}
          onClick={() => void confirm(id).catch(() => {})}
        >
          {opens ? EXPOSURE.action : BUILDER.save}
        </Button>
        <span className={styles.dim}>
          {orYes ? BUILDER.orYes : BUILDER.expires} <Time at={expiresAt} />
        </span>
      </div>
    </div>
  );
}
