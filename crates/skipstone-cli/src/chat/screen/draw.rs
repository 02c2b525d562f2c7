//! The layout: rows of messages, the status bar, the input line. Only visible lines are processed.

use super::Screen;
use crate::chat::session::Source;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

impl Screen {
    /// Draws everything.
    pub(super) fn draw(&mut self, frame: &mut Frame<'_>) {
        // A screen that is too small for all three shows the input line first, then the status.
        let height = frame.area().height;
        let (input, status) = (height.min(1), height.saturating_sub(1).min(1));
        let heights = [height - input - status, status, input].map(Constraint::Length);
        let [messages, status, input] = Layout::vertical(heights).areas(frame.area());
        self.draw_messages(frame, messages);
        // Drawn after the messages, because drawing them marks them as seen.
        let row = self.status.row(status.width, &self.server, self.state, self.view.unread());
        frame.render_widget(Line::raw(row).style(Modifier::REVERSED), status);
        self.draw_input(frame, input);
    }

    fn draw_messages(&mut self, frame: &mut Frame<'_>, area: Rect) {
        self.view.resize(area.width, area.height);
        for (row, shown) in (area.y..area.bottom()).zip(self.view.rows()) {
            frame.buffer_mut().set_stringn(area.x, row, shown.text, area.width.into(), style(shown.source));
        }
    }

    fn draw_input(&self, frame: &mut Frame<'_>, area: Rect) {
        let prompt_columns = (PROMPT.len() as u16).min(area.width);
        let [prompt, input] = Layout::horizontal([Constraint::Length(prompt_columns), Constraint::Fill(1)]).areas(area);
        let (text, scroll, column) = self.editor.window(input.width);
        frame.render_widget(PROMPT, prompt);
        frame.render_widget(Paragraph::new(text).scroll((0, scroll)), input);
        if area.width > 0 {
            let column = (prompt_columns + column).min(area.width - 1);
            frame.set_cursor_position(Position::new(area.x + column, area.y));
        }
    }
}

/// Text from the network is plain. Text of this program is highlighted, so that the network cannot imitate it.
fn style(source: Source) -> Style {
    match source {
        Source::Everybody => Style::new(),
        Source::Server => Style::new().fg(Color::Cyan),
        Source::Here => Style::new().fg(Color::Yellow),
    }
}

const PROMPT: &str = "> ";
