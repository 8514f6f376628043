//! Conditions of the ways out of a conflict, and of the warnings beside their commands.

use optimist_apiserver::apply::{LAST_APPLIED, Path};
use optimist_apiserver::object::text;
use optimist_client::Preset;
use optimist_diagnose::case::{Case, Installed};
use optimist_diagnose::ways::{ChangeTable, OnOwned, Remedy, RemedyKind, WantedChange, Way};
use optimist_simulation::World;
use serde_json::Value;

use super::owned::{Entry, Place, gone, owners};
use super::rows::{Run, all_at, named, places};
use crate::hearing::ConditionOf;
use crate::judge::leaves;

/// A way out, and what became of the object.
pub struct Out {
    pub kind: RemedyKind,
    pub run: Run,
    /// The manifest that the writer has from now on.
    pub manifest: Value,
    /// The fields in conflict.
    pub contested: Vec<Path>,
    /// The result of the same write once more: its code, and whether there is a new version.
    pub again: Option<(u16, bool)>,
    /// The number of ways out, and the number of those after which the same write is refused, or writes
    /// again.
    pub all: usize,
    pub unsettled: usize,
    /// The command that is to be tried first; empty if there is none.
    pub trial: String,
}

/// Returns whether a line of a shell only asks what would happen, or reads.
fn stores_nothing(line: &str) -> bool {
    const WRITES: [&str; 8] = [
        "apply", "patch", "scale", "create", "replace", "delete", "label", "edit",
    ];
    let writes = WRITES
        .iter()
        .any(|verb| line.contains(&format!("kubectl {verb} ")))
        || line.contains("helm upgrade")
        || line.contains("terraform apply");
    !writes || line.contains("--dry-run=server")
}

impl Out {
    /// Returns whether the next client-side apply of its old manifest writes a value back. Of a manifest that is not
    /// known: whether a value that it had set is another one, or gone.
    fn changes_client_side(&self) -> bool {
        let owners = owners(&self.run.before);
        let applied = &self.run.before["metadata"]["annotations"][LAST_APPLIED];
        let old = applied
            .as_str()
            .and_then(|it| serde_json::from_str::<Value>(it).ok());
        if let Some(old) = old
            && let Ok(installed) = Case::about(self.run.after.clone()).install()
        {
            let way = Way::Client(Preset::KubectlApply, OnOwned::Usual);
            let row = ChangeTable::new(&installed, WantedChange::manifest(old)).row(way);
            return row.is_some_and(|row| {
                let (now, then) = (leaves(&row.before), leaves(&row.after));
                let changed = self.run.changed();
                let mut own = changed.iter().filter(|place| {
                    let all = owners.get(*place).into_iter().flatten();
                    let client_side = |it: &Entry| {
                        it.manager == "kubectl-client-side-apply" && it.operation == "Update"
                    };
                    all.clone().any(client_side)
                        && !place.iter().any(|it| it.contains(LAST_APPLIED))
                });
                own.any(|place| then.contains_key(place) && now.get(place) != then.get(place))
            });
        }
        let changed = self.run.changed();
        let mut before = changed.iter().filter_map(|place| owners.get(place));
        before.any(|all| {
            all.iter()
                .any(|it| it.manager == "kubectl-client-side-apply" && it.operation == "Update")
        })
    }

    pub fn new(
        installed: &Installed,
        change: &WantedChange,
        manifest: &Value,
        (preset, out): (Preset, &Remedy),
        contested: Vec<Path>,
    ) -> Self {
        let way = Way::Client(preset, OnOwned::Usual);
        let mut run = Run::new(installed, change, manifest, way, &out.row.requests);
        // Others send the last request of some ways out.
        run.writer.clone_from(&out.row.writer);
        let again = || {
            let installed = Case::about(run.after.clone()).install().ok()?;
            let change = WantedChange {
                content: WantedChange::manifest(out.manifest.clone()).content,
                ..change.clone()
            };
            let row = ChangeTable::new(&installed, change).row(way)?;
            let version = |object: &Value| object["metadata"]["resourceVersion"].clone();
            let written = version(&row.after) != version(&run.after);
            Some((row.code.unwrap_or(200), written))
        };
        Self {
            kind: out.kind,
            manifest: out.manifest.clone(),
            contested,
            again: again(),
            run,
            all: 0,
            unsettled: 0,
            trial: String::new(),
        }
    }

    /// The values of the fields in conflict: before, after, in the writer's manifest, and in the one that
    /// was refused.
    fn values(&self) -> Vec<[Option<Value>; 4]> {
        let objects = [
            &self.run.before,
            &self.run.after,
            &self.manifest,
            &self.run.manifest,
        ];
        let of = |path: &Path| objects.map(|object| path.find(object).cloned());
        self.contested.iter().map(of).collect()
    }

    /// Returns whether the object has the values of the manifest. A Go struct leaves out a `false` that
    /// is its zero value, such as that of `paused`.
    fn is_written(&self) -> bool {
        let values = self.values();
        let mut values = values.iter();
        values.all(|[_, after, own, _]| {
            after == own || (after.is_none() && *own == Some(Value::Bool(false)))
        })
    }

    /// Returns whether each place in conflict has an owner besides the apply of the writer.
    fn others_own(&self) -> bool {
        self.owned(&self.run.after, |it, by| {
            it != self.run.writer || by == "Update"
        })
    }

    /// The places of the fields in conflict.
    fn places(&self) -> Vec<Place> {
        let all = places(&[&leaves(&self.run.before), &leaves(&self.run.after)]);
        let is = |place: &&Place| {
            let printed = super::versions::printed(place);
            self.contested.iter().any(|path| {
                let below = printed.strip_prefix(&path.to_string());
                below.is_some_and(|below| below.is_empty() || below.starts_with(['.', '[']))
            })
        };
        all.iter().filter(is).cloned().collect()
    }

    fn accepted(&self) -> bool {
        // An apply that is refused once, and then left out, is part of it.
        !self.run.refused()
    }

    /// Returns whether some place in conflict is owned by a manager of whom something holds.
    fn owned(&self, object: &Value, is: impl Fn(&str, &str) -> bool) -> bool {
        let owners = owners(object);
        let places = self.places();
        let entries = object["metadata"]["managedFields"].as_array();
        // A `false` that a Go struct leaves out is owned all the same, and is nowhere in the object.
        let owns_left_out = |place: &Place| {
            let field = format!("\"f:{}\"", place.last().map_or("", String::as_str));
            entries.into_iter().flatten().any(|entry| {
                is(text(entry, "manager"), text(entry, "operation"))
                    && entry["fieldsV1"].to_string().contains(&field)
            })
        };
        places.iter().all(|place| match owners.get(place) {
            Some(all) => all.iter().any(|it| is(&it.manager, &it.operation)),
            None => !leaves(object).contains_key(place) && owns_left_out(place),
        })
    }
}

pub const OUTS: &[(&str, ConditionOf<Out>)] = &[
    ("out_settles", |_, out| {
        let (code, written) = out.again?;
        let taken = out.kind == RemedyKind::Force && {
            let changed = out.run.changed();
            let mut lost = changed.iter().flat_map(|place| out.run.lost_by(place));
            lost.any(|it| it.manager == "kube-controller-manager")
        };
        let settles = out.accepted() && code < 300 && !written && !taken;
        Some(settles && (out.run.made_up || !out.changes_client_side()))
    }),
    ("out_settles_until_apply", |_, out| {
        let (code, written) = out.again?;
        Some(out.accepted() && code < 300 && !written && out.changes_client_side())
    }),
    ("open_not_settled", |_, out| Some(out.run.made_up)),
    ("open_settled", |_, out| Some(out.run.made_up)),
    ("headline_remedies", |said, out| {
        let count = said.number("count")? as usize;
        Some(0 < count && (out.run.made_up || count + out.unsettled <= out.all))
    }),
    ("out_others", |said, out| {
        let count = said.number("count")? as usize;
        Some(0 < count && out.unsettled <= count && count <= out.all)
    }),
    ("out_force_says", |_, out| {
        let mut sent = out.run.requests.iter();
        Some(sent.any(|it| it.target.contains("force=true")))
    }),
    ("out_force_takes", |_, out| {
        let forced = out
            .run
            .requests
            .iter()
            .any(|it| it.target.contains("force=true"));
        let written = out.is_written();
        Some(
            forced
                && out.accepted()
                && written
                && out.owned(&out.run.after, |it, by| {
                    it == out.run.writer && by == "Apply"
                }),
        )
    }),
    ("out_leave_out_says", |_, out| {
        let left = out
            .values()
            .iter()
            .all(|[.., own, wanted]| own.is_none() && wanted.is_some());
        Some(left)
    }),
    ("out_others_keep", |_, out| {
        let same = out
            .values()
            .iter()
            .all(|[before, after, ..]| before == after);
        Some(same && out.others_own())
    }),
    ("out_agree_says", |_, out| {
        Some(out.values().iter().all(|[before, _, own, _]| own == before))
    }),
    ("out_both_own", |_, out| {
        let both = out.owned(&out.run.after, |it, by| {
            it == out.run.writer && by == "Apply"
        });
        let same = out
            .values()
            .iter()
            .all(|[before, after, ..]| before == after);
        Some(same && both && out.others_own())
    }),
    ("instruction_try", |_, out| {
        // A manifest stands behind its command.
        let mut inside = false;
        let commands = out.trial.lines().filter(|line| {
            let was = inside;
            inside = match inside {
                true => *line != "EOF",
                false => line.contains("<<'EOF'"),
            };
            !was && !line.trim().is_empty()
        });
        let commands: Vec<&str> = commands.collect();
        Some(!commands.is_empty() && commands.into_iter().all(stores_nothing))
    }),
    ("out_transfer_says", |_, out| {
        // What is to be done; a server can refuse some part of it.
        let written = out.is_written();
        let owned = out.owned(&out.run.after, |it, by| {
            it == out.run.writer && by == "Apply"
        });
        Some(!out.accepted() || (written && owned))
    }),
    ("out_migrate_says", |_, out| {
        let entries = out.run.after["metadata"]["managedFields"].as_array()?;
        let mut entries = entries.iter();
        let client_side = entries.any(|entry| {
            text(entry, "manager") == "kubectl-client-side-apply"
                && text(entry, "operation") == "Update"
        });
        Some(!client_side)
    }),
    ("out_made_up", |_, out| Some(out.run.made_up)),
    ("warning_removes", |said, out| {
        let gone = gone(&leaves(&out.run.before), &leaves(&out.run.after));
        let count = said.number("count")? as usize;
        Some(0 < count && count <= gone.len() && all_at(said, "fields", &gone, |_| true))
    }),
    ("warning_dry_run", |said, out| {
        let gone = gone(&leaves(&out.run.before), &leaves(&out.run.after));
        Some(all_at(said, "fields", &gone, |_| true))
    }),
    ("warning_needed", |_, out| {
        // A server without the object does not take the manifest.
        Some(World::load(&out.manifest.to_string()).is_err())
    }),
    ("warning_absent", |said, out| {
        let own = leaves(&out.manifest);
        let (before, wanted) = (leaves(&out.run.before), leaves(&out.run.manifest));
        let all = places(&[&before, &wanted]);
        let gone = gone(&before, &leaves(&out.run.after));
        Some(all_at(said, "fields", &all, |place| {
            !own.contains_key(place) && !gone.contains(place)
        }))
    }),
    ("warning_record", |said, out| {
        Some(out.run.writer == said.text("manager") && !named(said.parts("manager")).0.is_empty())
    }),
];
