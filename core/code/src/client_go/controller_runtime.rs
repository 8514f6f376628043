//! A request as Go code that sends it with controller-runtime.

use optimist_apiserver::go::quote;
use optimist_apiserver::object::text;

use super::{ClientRequest, Go, Snippet, indent, json, raw};

/// The method of controller-runtime that writes (`sigs.k8s.io/controller-runtime/pkg/client`,
/// v0.24).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControllerRuntimeMethod {
    /// `Patch` with `client.MergeFrom`.
    MergeFrom,
    /// `controllerutil.CreateOrUpdate`.
    CreateOrUpdate,
    /// `Apply` with `client.ForceOwnership`.
    Apply,
}

/// A Go function that writes so, with the manager that the request names. `None` if the body of the
/// request was not made from an object that was read, and the method needs one.
pub fn controller_runtime(
    call: &ClientRequest<'_>,
    method: ControllerRuntimeMethod,
) -> Option<Snippet> {
    let request = call.read();
    let mut go = Go::new(call, &request);
    go.imports.add("context");
    go.imports.add("sigs.k8s.io/controller-runtime/pkg/client");
    let code = match method {
        ControllerRuntimeMethod::MergeFrom => go.merge_from()?,
        ControllerRuntimeMethod::CreateOrUpdate => go.create_or_update()?,
        ControllerRuntimeMethod::Apply => go.apply(),
    };
    Some(Snippet {
        imports: go.imports.render(),
        code,
    })
}

impl Go<'_> {
    fn merge_from(&mut self) -> Option<String> {
        let variable = self.variable();
        let statements = self.statements(&variable)?;
        let ty = self.object_type();
        let owner = self.owner_option();
        let inner = indent(&format!(
            "base := {variable}.DeepCopy()\n{statements}return c.Patch(ctx, {variable}, \
             client.MergeFrom(base){owner})\n"
        ));
        Some(format!(
            "// {variable} is what Get returned.\n\
             func patch(ctx context.Context, c client.Client, {variable} {ty}) error {{\n{inner}}}\n"
        ))
    }

    fn create_or_update(&mut self) -> Option<String> {
        self.imports
            .add("sigs.k8s.io/controller-runtime/pkg/controller/controllerutil");
        let variable = self.variable();
        let statements = indent(&self.statements(&variable)?);
        let declare = self.named_object(&variable);
        let mut client = "c".to_owned();
        if self.names_manager() {
            let manager = quote(&self.request.manager);
            client = format!("client.WithFieldOwner(c, {manager})");
        }
        let inner = indent(&format!(
            "{declare}_, err := controllerutil.CreateOrUpdate(ctx, {client}, {variable}, \
             func() error {{\n{statements}\treturn nil\n}})\nreturn err\n"
        ));
        Some(format!(
            "func ensure(ctx context.Context, c client.Client) error {{\n{inner}}}\n"
        ))
    }

    fn apply(&mut self) -> String {
        self.imports.add("encoding/json");
        self.imports
            .add("k8s.io/apimachinery/pkg/apis/meta/v1/unstructured");
        let body = raw(&json(self.call.body));
        let manager = quote(&self.request.manager);
        let force = match self.request.force {
            true => ", client.ForceOwnership",
            false => "",
        };
        let inner = indent(&format!(
            "object := &unstructured.Unstructured{{}}\n\
             if err := json.Unmarshal([]byte({body}), &object.Object); err != nil {{\n\
             \treturn err\n}}\n\
             configuration := client.ApplyConfigurationFromUnstructured(object)\n\
             return c.Apply(ctx, configuration, client.FieldOwner({manager}){force})\n"
        ));
        format!("func apply(ctx context.Context, c client.Client) error {{\n{inner}}}\n")
    }

    /// Returns whether the request names its manager. Otherwise the server takes the name from the
    /// User-Agent.
    fn names_manager(&self) -> bool {
        self.call.target.contains("fieldManager=")
    }

    fn owner_option(&self) -> String {
        if self.names_manager() {
            return format!(", client.FieldOwner({})", quote(&self.request.manager));
        }
        String::new()
    }

    /// Statements that make an object with its kind and its name.
    fn named_object(&mut self, variable: &str) -> String {
        let target = self.request.target;
        let (name, namespace) = (quote(target.name), quote(target.namespace));
        if self.call.typed().is_some() {
            let ty = self.object_type();
            let meta = self.imports.meta();
            let ty = ty.trim_start_matches('*');
            return format!(
                "{variable} := &{ty}{{ObjectMeta: {meta}.ObjectMeta{{Name: {name}, Namespace: \
                 {namespace}}}}}\n"
            );
        }
        let version = quote(text(self.call.body, "apiVersion"));
        let kind = quote(text(self.call.body, "kind"));
        let mut statements = format!(
            "{variable} := &unstructured.Unstructured{{}}\n{variable}.SetAPIVersion({version})\n\
             {variable}.SetKind({kind})\n{variable}.SetName({name})\n"
        );
        if !target.namespace.is_empty() {
            statements.push_str(&format!("{variable}.SetNamespace({namespace})\n"));
        }
        self.imports
            .add("k8s.io/apimachinery/pkg/apis/meta/v1/unstructured");
        statements
    }
}
