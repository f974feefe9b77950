"""Blind votes of people on the battles of a run, and how far they agree with those who judged them.

`desk.Desk` hands out battles and takes votes; `agreement.human_agreement` compares them with the committee and with
every judge.
"""
