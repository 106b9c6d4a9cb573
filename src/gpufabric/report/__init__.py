"""Result → what people and programs look at: tables, drawings, JSON, files."""
