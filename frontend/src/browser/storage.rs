//! The storages of the browser.

use std::collections::BTreeMap;

use optimist_sessions::{StorageArea, StorageEffect};
use web_sys::Storage;

use super::window;

/// Returns a storage; `None` if the browser forbids it. The one of this tab ends when the tab is closed.
fn storage(area: StorageArea) -> Option<Storage> {
    match area {
        StorageArea::Tab => window()?.session_storage().ok()?,
        StorageArea::Browser => window()?.local_storage().ok()?,
    }
}

/// Returns the value of a key.
pub(super) fn read(area: StorageArea, key: &str) -> Option<String> {
    storage(area)?.get_item(key).ok()?
}

/// Everything that is in a storage, by its keys.
pub(super) fn contents(area: StorageArea) -> BTreeMap<String, String> {
    let Some(storage) = storage(area) else {
        return BTreeMap::new();
    };
    let count = storage.length().unwrap_or(0);
    let keys: Vec<String> = (0..count).filter_map(|i| storage.key(i).ok()?).collect();
    let items = keys.into_iter().filter_map(|key| {
        let value = storage.get_item(&key).ok()??;
        Some((key, value))
    });
    items.collect()
}

/// Writes or removes a value; `false` if the browser has no room or forbids it.
pub(super) fn change(effect: &StorageEffect) -> bool {
    let done = match effect {
        StorageEffect::Write { place, key, value } => {
            storage(*place).map(|storage| storage.set_item(key, value))
        }
        StorageEffect::Remove { place, key } => {
            storage(*place).map(|storage| storage.remove_item(key))
        }
    };
    matches!(done, Some(Ok(())))
}
