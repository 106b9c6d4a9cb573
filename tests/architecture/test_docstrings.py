"""What is public explains itself."""

import ast

from hypothesis import given
from hypothesis import strategies as st


def undocumented(tree: ast.Module) -> list[str]:
    """Return what is public and has no docstring: functions, classes and their methods."""
    missing = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            if ast.get_docstring(node) is None:
                missing.append(node.name)
            if isinstance(node, ast.ClassDef):
                missing += [f"{node.name}.{name}" for name in undocumented(ast.Module(node.body, []))]
    return missing


def test_every_module_with_code_says_what_it_is_for(modules):
    assert [m.name for m in modules if m.tree.body and ast.get_docstring(m.tree) is None] == []


def test_every_folder_says_what_is_in_it(modules):
    assert [m.name for m in modules if m.name.endswith("__init__.py") and not ast.get_docstring(m.tree)] == []


def test_every_public_function_and_class_has_a_docstring(modules):
    assert [f"{m.name}:{name}" for m in modules for name in undocumented(m.tree)] == []


@given(st.booleans(), st.booleans())
def test_missing_docstrings_are_found(on_class, on_method):
    text = '    "Say."\n'
    tree = ast.parse(f"class C:\n{text * on_class}    def f(self):\n    {text * on_method}        return 1\n")
    assert undocumented(tree) == ["C"] * (not on_class) + ["C.f"] * (not on_method)
