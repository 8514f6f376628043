//! Strongly connected components (Tarjan's algorithm, without recursion).

use crate::state_graph::StateGraph;

/// The strongly connected components of the states. Each comes after all others to which its states lead.
pub(crate) fn components(graph: &StateGraph) -> Vec<Vec<usize>> {
    let mut walk = Walk {
        graph,
        index: vec![None; graph.len()],
        low: vec![0; graph.len()],
        on_stack: vec![false; graph.len()],
        stack: Vec::new(),
        next: 0,
        found: Vec::new(),
    };
    for node in 0..graph.len() {
        if walk.index[node].is_none() {
            walk.from(node);
        }
    }
    walk.found
}

struct Walk<'a> {
    graph: &'a StateGraph,
    index: Vec<Option<usize>>,
    low: Vec<usize>,
    on_stack: Vec<bool>,
    stack: Vec<usize>,
    next: usize,
    found: Vec<Vec<usize>>,
}

impl Walk<'_> {
    fn enter(&mut self, node: usize) {
        self.index[node] = Some(self.next);
        self.low[node] = self.next;
        self.next += 1;
        self.stack.push(node);
        self.on_stack[node] = true;
    }

    fn from(&mut self, root: usize) {
        self.enter(root);
        let mut calls = vec![(root, 0)];
        while let Some((node, edge)) = calls.pop() {
            let Some(to) = self.graph.edges(node).get(edge).map(|edge| edge.to()) else {
                if self.index[node] == Some(self.low[node]) {
                    self.close(node);
                }
                if let Some((parent, _)) = calls.last() {
                    self.low[*parent] = self.low[*parent].min(self.low[node]);
                }
                continue;
            };
            calls.push((node, edge + 1));
            match self.index[to] {
                None => {
                    self.enter(to);
                    calls.push((to, 0));
                }
                Some(index) if self.on_stack[to] => {
                    self.low[node] = self.low[node].min(index);
                }
                Some(_) => {}
            }
        }
    }

    fn close(&mut self, root: usize) {
        let mut component = Vec::new();
        while let Some(node) = self.stack.pop() {
            self.on_stack[node] = false;
            component.push(node);
            if node == root {
                break;
            }
        }
        self.found.push(component);
    }
}
