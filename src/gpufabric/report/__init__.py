"""Result → what people look at: tables, drawings, documents."""
