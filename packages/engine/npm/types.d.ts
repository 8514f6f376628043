/** An object of Kubernetes, as `kubectl get -o json --show-managed-fields` prints it. */
export interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; [field: string]: unknown };
  [field: string]: unknown;
}

/** The owners of the fields of an object. No value of the object is in it. */
export interface Ownership {
  /** Kind, namespace and name. */
  object: string;
  /** The entries of `metadata.managedFields`, in their order. */
  managers: Manager[];
  /** The values of the object, in their order. */
  fields: OwnedField[];
}

/** An entry of `metadata.managedFields`. */
export interface Manager {
  name: string;
  operation: "Apply" | "Update";
  /** Empty for the object itself. */
  subresource: string;
  apiVersion: string;
  /** The time when the entry last changed; null if it has none. */
  time: string | null;
  /** The paths that it owns, as the server prints them. */
  fields: string[];
  /** Those that no other manager owns. */
  alone: string[];
}

/** A value of an object, and its owners. */
export interface OwnedField {
  /** A JSON pointer. */
  pointer: string;
  /** Positions in `Ownership.managers`. */
  owners: number[];
  /** The reason why nobody owns it; null if somebody does. */
  unowned: "neverOwned" | "default" | "noEntry" | "notPrinted" | null;
}

/** A write of a tool. */
export interface Write {
  tool:
    | "helm3"
    | "helm4"
    | "kubectl"
    | "kubectl-server-side"
    | "argocd"
    | "argocd-server-side"
    | "flux"
    | "terraform";
  /** The manifest, as an object or as text in YAML or JSON. */
  manifest: KubernetesObject | string;
  /** Takes over what others own; not for `kubectl` and `helm3`. */
  force?: boolean;
  /** The field manager, for `kubectl-server-side` and `terraform`. */
  manager?: string;
  /** The namespace of a manifest that names none. */
  namespace?: string;
}

/** The outcome of a write. Values that look private are masked. */
export interface Prediction {
  object: { apiVersion: string; kind: string; namespace: string; name: string };
  outcome:
    | "conflict"
    | "invalid"
    | "refused"
    | "notRun"
    | "deleted"
    | "changed"
    | "created"
    | "unchanged"
    | "notTouched";
  /** The troubles, the worst first. */
  troubles: string[];
  /** The field manager that writes; empty if nothing is sent. */
  writer: string;
  /** The status code of the answer that decides; null if nothing is sent. */
  code: number | null;
  /** The reason of a refusal; else empty. */
  message: string;
  /** The effects. Fields that keep value and owners are left out. */
  fields: PredictedField[];
  /** Entries of `managedFields` in versions that the kind does not have. */
  stuck: { manager: string; apiVersion: string }[];
  finalizers: string[];
  /** The texts of the Warning headers. */
  warnings: string[];
  /** What the prediction assumes because nothing says it. */
  assumed: { what: string; [detail: string]: unknown }[];
  /** The ways out of a conflict, each tried. */
  handOvers: {
    kind: "leave" | "migrate" | "takeOver";
    settles: boolean;
    /** Whether the next client-side apply of the old manifest writes the old values back. */
    clientSideMayWrite: boolean;
    writtenBackBy: string[];
    steps: unknown[];
    toolHasNoOption: boolean;
  }[];
}

/** The effect of a write on a field. */
export interface PredictedField {
  /** The path, as the server prints it. */
  field: string;
  change:
    | "refused"
    | "overwritten"
    | "keptAlthoughRemoved"
    | "notReverted"
    | "changed"
    | "removed"
    | "added"
    | "default"
    | "owners";
  before?: unknown;
  wanted?: unknown;
  after?: unknown;
  owners: string[];
  refusedBy?: string[];
  writtenBackBy?: string[];
}

/** An explanation of an error message. */
export interface Explanation {
  errors: ReportedError[];
  /** What *Diagnose* says, for an issue. */
  markdown: string;
}

/** An error that a tool printed. A part that the text does not have is null. */
export interface ReportedError {
  kind:
    | "applyConflict"
    | "modified"
    | "otherUid"
    | "precondition"
    | "forceWithoutServerSide"
    | "versionMissing"
    | "invalid"
    | "forbidden"
    | "noRight"
    | "notOfSchema"
    | "versionOnCreate"
    | "notServed"
    | "testFailed"
    | "otherConflict"
    | "notOfRelease"
    | "alreadyExists"
    | "patchRefused"
    | "managedFieldsSent"
    | "otherThanExpected"
    | "notOverwritten"
    | "deniedByWebhook"
    | "webhookFailed"
    | "expired"
    | "tooManyRequests"
    | "heldBack"
    | "notSent"
    | "timedOut"
    | "deadlinePassed"
    | "notStrict"
    | "conflict"
    | "releasePending"
    | "noDeployedRelease"
    | "releaseNameInUse"
    | "revisionExists"
    | "stateLocked"
    | "otherThanPlanned";
  object: {
    apiVersion: string | null;
    kind: string | null;
    resource: string | null;
    namespace: string | null;
    name: string | null;
    subresource: string | null;
  };
  manager: string | null;
  /** The owners that an apply met, and their fields. */
  conflicts: {
    manager: string;
    subresource: string | null;
    apiVersion: string | null;
    fields: string[];
  }[];
}
