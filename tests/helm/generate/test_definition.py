"""The definition becomes a template without a change of its own."""

from __future__ import annotations

from helm.generate.definition import template

CRD = "kind: CustomResourceDefinition\nmetadata:\n  name: trainingjobs.trainwright.dev\nspec: {}\n"


def test_the_text_is_the_same_around_what_is_added() -> None:
    first, *lines, last = template(CRD).splitlines()
    assert (first, last) == ("{{- if .Values.crds.enabled }}", "{{- end }}")
    assert [line for line in lines if line in CRD.splitlines()] == CRD.splitlines()


def test_braces_in_a_description_are_no_templates() -> None:
    found = template(CRD.replace("{}", '{description: "as in {{ .Name }}"}'))
    assert 'as in {{ "{{" }} .Name }}' in found
