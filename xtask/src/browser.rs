//! Chrome and Firefox with their drivers: tests run in both, and with Chrome the build records which
//! functions run at the start.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{Failure, StageResult};
use crate::workspace::Workspace;
use crate::{system, tools};

const BROWSERS: [&str; 5] = [
    "chromium",
    "google-chrome",
    "google-chrome-stable",
    "chromium-browser",
    "chrome",
];
const FIREFOXES: [&str; 2] = ["firefox-esr", "firefox"];
const ELSEWHERE: [&str; 2] = [
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

/// Chrome and the matching driver.
#[derive(Debug)]
pub struct Browser {
    chrome: PathBuf,
    driver: PathBuf,
}

/// Firefox and its driver.
#[derive(Debug)]
pub struct Firefox {
    firefox: PathBuf,
    driver: PathBuf,
}

impl Firefox {
    /// Tells the page tests to use this browser and driver.
    pub fn tell(&self, command: &mut Command) {
        command
            .env("OPTIMIST_BROWSER", "firefox")
            .env("FIREFOX", &self.firefox)
            .env("GECKODRIVER", &self.driver);
    }
}

/// Finds Firefox and its driver, or installs them where possible.
pub fn find_or_install_firefox(workspace: &Workspace) -> StageResult<Firefox> {
    let driver = match named("GECKODRIVER")? {
        Some(driver) => driver,
        None => tools::geckodriver(workspace)?,
    };
    let found = || -> StageResult<Option<PathBuf>> {
        let on_path = || FIREFOXES.iter().find_map(|name| system::on_path(name));
        let application = || {
            let path = PathBuf::from("/Applications/Firefox.app/Contents/MacOS/firefox");
            Some(path).filter(|path| system::is_program(path))
        };
        Ok(named("FIREFOX")?.or_else(on_path).or_else(application))
    };
    let firefox = match found()? {
        None if system::is_debian() => {
            system::install(workspace, "Firefox", &["firefox-esr", "fonts-liberation"])?;
            found()?
        }
        found => found,
    };
    let firefox = firefox.ok_or_else(|| {
        let remedy = if cfg!(target_os = "macos") {
            "brew install --cask firefox"
        } else {
            "install Firefox, or set FIREFOX"
        };
        Failure::new("Firefox is missing", remedy)
    })?;
    Ok(Firefox { firefox, driver })
}

impl Browser {
    /// Tells `command` which browser and driver to use.
    pub fn tell(&self, command: &mut Command) {
        command
            .env("CHROME", &self.chrome)
            .env("CHROMEDRIVER", &self.driver);
    }

    /// The frontend's webdriver.json with this browser in it.
    pub fn capabilities(&self, workspace: &Workspace) -> StageResult<PathBuf> {
        let file = workspace.root().join("frontend").join("webdriver.json");
        let written = workspace.scratch("webdriver.json");
        let told = |error: std::io::Error| {
            Failure::new(
                format!("{}: {error}", file.display()),
                "git checkout frontend/webdriver.json",
            )
        };
        let text = fs::read_to_string(&file).map_err(told)?;
        if let Some(folder) = written.parent() {
            fs::create_dir_all(folder).map_err(told)?;
        }
        fs::write(&written, with_binary(&text, &self.chrome)).map_err(told)?;
        Ok(written)
    }
}

/// Finds a browser and its driver, or installs them where possible.
pub fn find_or_install(workspace: &Workspace) -> StageResult<Browser> {
    if let Some(browser) = find()? {
        return Ok(browser);
    }
    if system::is_debian() {
        // Without a font a page has no text to measure.
        let packages = ["chromium", "chromium-driver", "fonts-liberation"];
        system::install(workspace, "browser", &packages)?;
        if let Some(browser) = find()? {
            return Ok(browser);
        }
    }
    Err(Failure::new(
        "Chrome and its driver are missing",
        if cfg!(target_os = "macos") {
            "brew install --cask google-chrome chromedriver"
        } else {
            "install Chrome or Chromium with its chromedriver, or set CHROME and CHROMEDRIVER"
        },
    ))
}

fn find() -> StageResult<Option<Browser>> {
    let chrome = match named("CHROME")? {
        Some(path) => Some(path),
        None => BROWSERS
            .iter()
            .find_map(|name| system::on_path(name))
            .or_else(|| {
                ELSEWHERE
                    .iter()
                    .map(PathBuf::from)
                    .find(|path| system::is_program(path))
            }),
    };
    let driver = match named("CHROMEDRIVER")? {
        Some(path) => Some(path),
        None => system::on_path("chromedriver"),
    };
    Ok(chrome
        .zip(driver)
        .map(|(chrome, driver)| Browser { chrome, driver }))
}

/// The program that an environment variable names.
fn named(variable: &str) -> StageResult<Option<PathBuf>> {
    let Some(path) = env::var_os(variable)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
    else {
        return Ok(None);
    };
    if system::is_program(&path) {
        Ok(Some(path))
    } else {
        Err(Failure::new(
            format!("{variable} is {}, which is not a program", path.display()),
            format!("unset {variable}"),
        ))
    }
}

/// Adds the browser's path to the first object of options in `json`.
fn with_binary(json: &str, chrome: &Path) -> String {
    let path = chrome
        .to_string_lossy()
        .replace('\\', "\\\\")
        .replace('"', "\\\"");
    json.replacen(
        "\"goog:chromeOptions\": {",
        &format!("\"goog:chromeOptions\": {{ \"binary\": \"{path}\","),
        1,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_browser_is_added_to_the_committed_capabilities() {
        let json = include_str!("../../frontend/webdriver.json");
        let told = with_binary(json, Path::new("/opt/my \"chrome\""));
        assert!(told.contains(r#""goog:chromeOptions": { "binary": "/opt/my \"chrome\"","#));
        assert!(told.contains("--headless"));
    }
}
