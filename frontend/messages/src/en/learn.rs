//! Learn.

crate::catalogue::messages! {
    lessons_title() "Fourteen lessons, each a history that you step through";
    lessons_text() "You predict, the lesson runs the request and explains the result. Leave the script at any time: the page keeps what you try.";
    lessons_own() "Open a lesson of your own";
    lessons_loading() "Loading";
    lesson_done() "done";
    lesson_at(step, steps) "at step {step} of {steps}";
    lesson_steps(steps) "{steps} {steps|step|steps}";
    lesson() "Lesson";
    lessons_all() "All lessons";
    lesson_start_again() "Start again";
    lesson_teach() "Teach";
    lesson_teach_hint() "Large, and a step for each key (t)";
    lesson_belief() "A common belief";
    lesson_status(step, steps, title) "Step {step} of {steps}: {title}";
    lesson_bar() "Steps of the lesson";
    lesson_bar_step(step, title) "Step {step}: {title}";
    prediction() "Prediction";
    prediction_before() "Before it happens: ";
    prediction_right() "what you said, and so it was";
    prediction_answer() "so it was";
    prediction_yours() "what you said";
    lesson_show() "Show what happens";
    lesson_skip() "Go on without it";
    lesson_next_step() "Next";
    lesson_back() "Back";
    lesson_next() "Next lesson";
    lesson_aside() "You left the script. The page keeps what you try here beside it.";
    lesson_return() "Back to the lesson";
    task() "Your task";
    task_done() "Done: ";
    task_not_yet() "Not yet: ";
    task_start_again() "Start this task again";
    task_show() "Show a way";
    task_hint() "Hint";
    task_hide_hint() "Hide the hint";
    task_moved() "You reached the goal. The history that you see now does not reach it.";
    task_reached() "There it is.";
    challenge_how() "Choose in the two cards. Then try every order.";
    challenge_try() "Try every order";
    challenge_trying() "Trying every order";
    challenge_orders(count) "{count} {count|order|orders}";
    challenge_retries() "An actor retries after a conflict. Solve it without retries.";
    challenge_too_many() "There are more orders than this page can try.";
}
