"""Writes vectors.jsonl: expressions, the values of their names, and what LibreOffice Calc makes of them.

    python -m tests.unit.formula.make_vectors      (with `soffice` on the path; 7.4.7 wrote the file that is committed)

Settings of the sheet: case does not count in comparisons, patterns with * and ? are on, a criterion applies to whole
cells, day zero is 1899-12-30, language en-US. A name with a list stands for a row of cells, and the formula is then
entered as an array formula, because every formula of ours takes lists element by element.

Calc's codes: Err:502 ("invalid argument") and Err:504 are not among ours. They are `#NUM!`, for an argument is out of
the range that the function takes; but `#VALUE!` where that argument is a text, and `#REF!` in INDEX, whose position is
missing. An empty result is 0 in a sheet.

XLOOKUP came with LibreOffice 24.8: its right values come from INDEX and MATCH, which the third place of a row gives.

Left out, because we mean to differ:
- lists of different lengths: `#VALUE!` by our specification, #N/A in the surplus elements of Calc's array;
- chained comparisons (`1<2=TRUE`): an error before launch; Calc works them out from left to right;
- texts that are numbers, in cells: here they are those numbers, as where a sheet opens a CSV file;
- 1 = 1.0000000000000001, SUM(1E16, 1, -1E16), MOD(1E300, 7), numbers of more than 15 digits as text: we are exact
  with decimals;
- -TRUE: -1, which Calc shows, and writes to the file, as a truth value;
- numbers as texts with an exponent: Calc writes 1E+020, we write 100000000000000000000;
- SUM("x") and the like of number texts that a function made, where Calc's functions disagree (MAX says Err:504);
- COUNTIF with `<>` and a pattern over an empty last cell, which Calc counts or not as the sheet around it is filled;
- "ß" in UPPER (Calc: ẞ; Unicode's full case mapping: SS);
- "1/2" and "12:30": a date of this year and a part of a day in Calc, `#VALUE!` here, as they are ambiguous;
- "5-" (Calc: -5), VALUE(TRUE) (Calc: TRUE), VALUE("1e400") (Calc: the largest double): not numbers, or 1, here;
- QUOTIENT(7, 0): Err:502 in Calc, `#DIV/0!` here;
- years before 1583, which Calc counts in the Julian calendar, and dates that it lets run out of range;
- MIN, MAX of an empty list, which no sheet has: `#VALUE!`.
"""

# ruff: noqa: E501 - a table of expressions, a kind a line

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tests.unit.formula.calc import calculate

VECTORS = Path(__file__).with_name("vectors.jsonl")

N = [3, 1, 2]
M = [1, "x", True, None, 2.5]
AB = ["a", "B", "c", "ab", ""]
UP = [1, 2, 3]
DOWN = [3, 2, 1]

PLAIN = """
1+1 | 7-10 | 2*3.5 | 1/3 | 10/4 | 1/0 | 0/0 | 0.1+0.2 | 0.1+0.2=0.3 | 1/3*3=1 | (1/3+1/3+1/3)-1 | 1.1-1-0.1
-2^2 | 2^3^2 | 2^-1 | 2^0.5^2 | 2^0.5 | (-8)^(1/3) | (-8)^0.5 | 0^0 | 10^400 | -2% | 50%% | 5%^2 | (-2)% | --2 | -+2 | +-+3
2*-3 | 10-2-3 | 100/10/2 | 1+2*3-4/2 | (1+2)*3 | 1.5e3 | .5+.5 | 1E-3*1000 | 2^10 | 7%*100 | -(2+3)^2 | 2^(1+2)
"a"&1+2&"b" | "a"&1/3 | 1&2="12" | 1&2=12 | "a""b" | "x"&TRUE | ""&"" | 123456.789&"" | 0.00001&"" | 0.0001234&"" | -0.5&""
1E15&"" | 1E-7&"" | 1/7&"" | 1E14/3&"" | 2/3*1E-5&"" | 0.1+0.2&"" | DATE(2024,1,31)&"" | 100%&""
"1.5"+1 | "15"+1 | "1e3"+1 | " 15 "+1 | ""+1 | "x"+1 | "1,234"+1 | "12%"+1 | "$5"+1 | "TRUE"+1 | "5."+0 | ".5"+0 | "+5"+0
"1 000"+0 | "-5"+0 | "(5)"+0 | "5 "+0 | "2024-01-31"+0 | "2024-02-29T10:00:00"+0 | TRUE+1 | TRUE*FALSE | +"x" | -"x" | -"5" | "x"%
"a"="A" | "a"<>"A" | "a"<"B" | "Z"<"a" | "A"<"a" | "_"<"a" | "a">"_" | "1"=1 | 1<"a" | "a">TRUE | TRUE=1 | TRUE>FALSE
"a"<"á" | "á"<"b" | "é"="E" | "É"="é" | "1"<"a" | "-a"<"a" | "a b"<"ab" | "a-b"<"ab" | "ß"="ss" | "~"<"a" | "9"<"10" | " a"="a" | ""<"a" | "#"<"$" | "ñ"<"o"
"Straße"="STRASSE" | "Straße"="STRAßE" | 2>1 | 2>=2 | 2<=1 | 2<>2 | (1<2)=TRUE | 1=2
ROUND(2.5,0) | ROUND(-2.5,0) | ROUND(-1.5,0) | ROUND(0.5,0) | ROUND(2.675,2) | ROUND(1.005,2) | ROUND(1250,-2) | ROUND(2.5) | ROUND(2.55,1.9) | ROUND(1E15/7,-13) | ROUND(1/3,20) | ROUND(123,-5) | ROUND("2.5",0) | ROUND("x",0) | ROUND(2.5,) | ROUND(1/3,4) | ROUND(-1/3,2) | ROUND(TRUE/3,1)
ROUNDUP(2.1,0) | ROUNDUP(-2.1,0) | ROUNDUP(2.1) | ROUNDUP(1250,-2) | ROUNDUP(-1.001,2) | ROUNDUP(3,0) | ROUNDDOWN(-2.9,0) | ROUNDDOWN(2.9) | ROUNDDOWN(1250,-2) | TRUNC(-2.567,2) | TRUNC(-2.5) | TRUNC(1.999,2) | TRUNC(-1250,-2)
MROUND(7,3) | MROUND(-7,3) | MROUND(-7,-3) | MROUND(7.5,3) | MROUND(7,0) | MROUND(1.3,0.2) | MROUND(-7.5,2) | MROUND(2.5,-1)
CEILING(2.5,1) | CEILING(-2.5,-1) | CEILING(-2.5,1) | CEILING(2.5,-1) | CEILING(2.5) | CEILING(2.5,0) | CEILING(-2.5) | CEILING(-2.5,-2) | CEILING(7,3) | CEILING(-7,-3) | CEILING(0,5) | CEILING(5,0.3) | CEILING(0.3,0.1)
FLOOR(2.5,1) | FLOOR(-2.5,-1) | FLOOR(-2.5,1) | FLOOR(2.5,-1) | FLOOR(2.5) | FLOOR(2.5,0) | FLOOR(-2.5,-2) | FLOOR(-2.5,2) | FLOOR(7,3) | FLOOR(-7,-3) | FLOOR(5,0.3) | FLOOR(0.3,0.1) | FLOOR(-2.5)
INT(-2.5) | INT(2.5) | INT("x") | INT(0.1*3*10) | INT(1/3*3) | ABS(-3) | ABS("x") | ABS("-3") | SIGN(-3) | SIGN(0) | SIGN(0.1)
MOD(7,3) | MOD(-7,3) | MOD(7,-3) | MOD(-7,-3) | MOD(7,0) | MOD(5.5,2) | MOD(0.3,0.1) | MOD(-5.5,2) | MOD(10,2.5) | MOD(1,1/3)
QUOTIENT(7,2) | QUOTIENT(-7,2) | QUOTIENT(7.5,2.5) | QUOTIENT(-7,-2) | POWER(2,10) | POWER(2,0.5) | POWER(-2,3) | POWER(-2,0.5) | POWER(0,0) | POWER(0,-1) | POWER(-8,1/3) | POWER(4,-1/2)
SQRT(16) | SQRT(2) | SQRT(-1) | SQRT(0) | SQRT(0.25) | EXP(0) | EXP(1) | EXP(1000) | LN(EXP(2)) | LN(0) | LN(-1) | LOG(8,2) | LOG(100) | LOG(8,1) | LOG(8,0) | LOG(0.5,2) | LOG(8,-2) | LOG10(1000) | LOG10(0) | PI() | ROUND(PI()*1E3,0)
IF(2,1,2) | IF("TRUE",1,2) | IF("x",1,2) | IF("",1,2) | IF(1/0,1,2) | IF(FALSE,1) | IF(TRUE,,2) | IF(1>2,1/0,5) | IF(0,"a","b") | IF(TRUE,"yes","no") | IF(AND(1<2,2<3),10,20)
IFS(FALSE,1,TRUE,2) | IFS(FALSE,1) | IFS(1/0,1,TRUE,2) | IFS(TRUE,1,1/0,2) | IFERROR(1/0,5) | IFERROR(3,5) | IFERROR("x"+1,"bad") | IFNA(1/0,5) | IFNA(3,5)
AND(TRUE,1) | AND(TRUE,0) | AND("x") | AND("TRUE") | AND(TRUE,"x") | OR(FALSE,1/0) | OR(TRUE,1/0) | OR(FALSE,0) | OR(1>2,3>2) | NOT(0) | NOT("x") | NOT(5) | NOT(1=2) | XOR(TRUE,TRUE) | XOR(TRUE,TRUE,TRUE) | XOR(FALSE,FALSE)
SWITCH(2,1,"a",2,"b") | SWITCH(3,1,"a",2,"b") | SWITCH(3,1,"a",2,"b","c") | SWITCH("A","a",1,2) | SWITCH(1/0,1,2)
LEN("abc") | LEN("😀a") | LEN("") | LEN(123.50) | LEN(TRUE) | LEFT("abc") | LEFT("abc",5) | LEFT("abc",0) | LEFT("abc",-1) | LEFT("abc",1.9) | LEFT(12345,2) | LEFT("😀abc",1) | RIGHT("abc",2) | RIGHT("abc",-1) | RIGHT("abc") | RIGHT("abc",0) | RIGHT("abc😀",1)
MID("abcdef",2,3) | MID("abc",0,1) | MID("abc",2,-1) | MID("abc",5,1) | MID("abc",1,0) | MID("abc",1.9,1.9) | MID("abc",2,99) | MID("😀abc",2,1)
FIND("b","abc") | FIND("B","abc") | FIND("b","abcb",3) | FIND("","abc") | FIND("z","abc") | FIND("a","abc",0) | FIND("a","abc",9) | FIND(2,123) | FIND("a","😀a") | FIND("*","a*b")
SEARCH("B","abc") | SEARCH("b*d","abcd") | SEARCH("?c","abc") | SEARCH("~*","a*b") | SEARCH("z","abc") | SEARCH("b","abcb",3) | SEARCH("","abc") | SEARCH("","") | SEARCH("a?c","xabc") | SEARCH("a","banana",3) | SEARCH("A","banana",0) | SEARCH("a","😀a")
SUBSTITUTE("aXbXc","X","-") | SUBSTITUTE("aXbXc","X","-",2) | SUBSTITUTE("aXbXc","x","-") | SUBSTITUTE("abc","","-") | SUBSTITUTE("aXbXc","X","-",0) | SUBSTITUTE("aXbXc","X","-",9) | SUBSTITUTE("aXbXc","X","") | SUBSTITUTE(1.5,".",",")
TRIM("  a   b ") | TRIM("") | UPPER("abc é") | UPPER(1.5) | LOWER("ÀB") | LOWER("x1Y") | CONCAT("a",1,TRUE) | CONCAT("a") | TEXTJOIN("-",TRUE,"a","","b") | TEXTJOIN("-",FALSE,"a","","b") | TEXTJOIN("",TRUE,1,2) | TEXTJOIN(", ",TRUE,"a")
VALUE("1,234.50") | VALUE("$5") | VALUE("12%") | VALUE("2024-01-31") | VALUE("TRUE") | VALUE("FALSE") | VALUE("x") | VALUE("") | VALUE(" 5 ") | VALUE("1e3") | VALUE(5) | VALUE("-$5") | VALUE("(5)") | VALUE("1,23") | VALUE("+5") | VALUE(".5") | VALUE("5.") | VALUE("5 %") | VALUE("€5") | VALUE("1,234,567") | VALUE("12,34") | VALUE("1.2.3") | VALUE("--5") | VALUE("- 5") | VALUE("$1,234.50") | VALUE("5$") | VALUE("2024-13-01") | VALUE("2024-1-5") | VALUE("1.234,50")
EXACT("a","A") | EXACT("a","a") | EXACT(1,"1") | EXACT(TRUE,"TRUE") | EXACT("","")
DATE(2024,1,31) | DATE(2024,13,1) | DATE(2024,2,30) | DATE(99,1,1) | DATE(20,1,1) | DATE(29,1,1) | DATE(30,1,1) | DATE(2024,0,1) | DATE(2024,1,0) | DATE(2024,-1,1) | DATE(2024.9,1.9,31.9) | DATE("2024",1,1) | DATE(1900,1,1) | DATE(1899,12,30) | DATE(1800,1,1) | DATE(9999,12,31) | DATE(-5,1,1) | DATE("x",1,1)
DATE(2024,2,29)-DATE(2023,2,28) | DATE(2024,3,1)>DATE(2024,2,1) | YEAR("2024-02-29") | YEAR(45000) | YEAR(0) | YEAR("x") | YEAR("2024-02-30") | YEAR("2024-02-29T10:00:00") | YEAR(TRUE) | YEAR(DATE(2024,2,29)) | MONTH(45000.7) | MONTH("2024-02-29") | MONTH(DATE(2024,14,1)) | DAY(45000) | DAY(-1) | DAY(60) | DAY(DATE(2024,3,0)) | DAY("2024-02-29") | DAYS("2024-03-01","2024-02-01") | DAYS(10,3.5) | DAYS("x",1) | DAYS("2024-02-29","2024-02-28") | IFERROR("2024-02-30"+0,"no")
SUM(1,2,3) | SUM("3",4) | SUM("x",4) | SUM(TRUE,1) | SUM(1/0,2) | SUM(0.1,0.2) | COUNT("3",4,"x",TRUE) | COUNT(1/0,2) | COUNTA("",1) | COUNTA(1/0,2) | AVERAGE("x") | AVERAGE(1,2,4) | AVERAGE(TRUE,3) | MAX(3,7,5) | MIN(3,-7,5) | MAX(TRUE,0)
MEDIAN(1,2,3,4) | MEDIAN(5) | MEDIAN(3,1,2) | MODE(1,2,2,3) | MODE(3,3,1,1) | MODE(1,2) | STDEV(1) | STDEV(1,2,4) | STDEVP(1) | STDEVP(2,4) | VAR(1,2,4) | VAR(7) | PRODUCT(2,3) | PRODUCT("x",3) | PRODUCT(2,TRUE) | PRODUCT("3",2) | AVERAGE("3",2) | MEDIAN("3",2) | STDEV("3",2) | LARGE(5,1) | LARGE(5,2) | SMALL(5,1)
LEFT("abc",) | ROUND(,1) | AND(,TRUE) | SUM(1,,2) | COUNT(1,,2) | COUNTA(1,,2) | AVERAGE(2,,4) | MAX(-1,,-2) | PRODUCT(2,,3) | CONCAT("a",,"b") | TEXTJOIN("-",FALSE,"a",,"b") | SWITCH(,0,"zero","other") | IF(,1,2)
"""

WITH_VALUES: list[tuple[Any, ...]] = [
    *[(f"{name}(v)", {"v": M}) for name in ("SUM", "COUNT", "COUNTA", "AVERAGE", "MAX", "MIN", "PRODUCT", "MEDIAN")],
    *[(f"{name}(v)", {"v": M}) for name in ("STDEV", "STDEVP", "VAR", "SUMPRODUCT", "AND", "OR", "XOR", "CONCAT")],
    *[(f"{name}(v)", {"v": N}) for name in ("SUM", "AVERAGE", "MAX", "MIN", "STDEV", "STDEVP", "VAR", "MODE", "MEDIAN")],
    *[(f"{name}(v)", {"v": ["x", None]}) for name in ("SUM", "COUNT", "COUNTA", "AVERAGE", "MAX", "MIN", "PRODUCT")],
    *[(f"{name}(v)", {"v": ["x", None]}) for name in ("MEDIAN", "MODE", "STDEV", "STDEVP", "VAR", "AND", "OR")],
    *[(f"{name}(a)", {"a": None}) for name in ("SUM", "COUNT", "COUNTA", "NOT", "LEN", "ABS", "ROUND", "VALUE", "SQRT")],
    *[(f"{name}(a)", {"a": "x"}) for name in ("SUM", "COUNT", "COUNTA", "AVERAGE", "MAX", "NOT", "LEN", "ABS", "UPPER")],
    *[(f"{name}(a)", {"a": True}) for name in ("SUM", "COUNT", "COUNTA", "LEN", "NOT", "ABS")],
    ("MIN(v)", {"v": ["x", True, 5]}),
    ("MAX(v)", {"v": [True, "x"]}),
    ("PRODUCT(v)", {"v": [2, "x", None, 3]}),
    ("MODE(v)", {"v": [1, 2, 2, 3, 3]}),
    ("STDEV(v)", {"v": ["x", 1]}),
    ("STDEV(v)", {"v": [1e6 + 1, 1e6 + 2, 1e6 + 3]}),
    ("SUM(a,1)", {"a": None}),
    ("SUM(v,w,4)", {"v": N, "w": UP}),
    ("AVERAGE(v)", {"v": [0.1, 0.2, 0.3]}),
    *[(f"LARGE(v,{k})", {"v": N}) for k in ("1", "3", "4", "0", "1.5")],
    *[(f"SMALL(v,{k})", {"v": N}) for k in ("1", "3", "4", "0", "2.9")],
    ("SMALL(v,2)", {"v": M}),
    # element by element
    ("SUM(v*w)", {"v": N, "w": UP}),
    ("SUM(v+w)", {"v": N, "w": UP}),
    ("SUM(v-w)", {"v": N, "w": [1, 1, 1]}),
    ("SUM(v/w)", {"v": N, "w": [1, 2, 4]}),
    ("SUM(v^2)", {"v": N}),
    ("SUM(2^v)", {"v": N}),
    ("SUM(-v)", {"v": N}),
    ("SUM(v%)", {"v": N}),
    ("SUM(v*2)", {"v": N}),
    ("SUM(v*2)", {"v": M}),
    ("SUM(v+1)", {"v": [1, None, True]}),
    ("SUM(v>1)", {"v": N}),
    ("SUMPRODUCT(v>1)", {"v": N}),
    ("SUMPRODUCT((v>1)*v)", {"v": N}),
    ("SUMPRODUCT(v,w)", {"v": N, "w": UP}),
    ("SUMPRODUCT(v,w)", {"v": N, "w": [1, "x", 3]}),
    ("SUMPRODUCT(v,w)", {"v": N, "w": [1, 2]}),
    ("SUMPRODUCT(v*w)", {"v": N, "w": UP}),
    ("SUM(IF(v>1,v,0))", {"v": N}),
    ("SUM(IF(v>1,v*w,w))", {"v": N, "w": UP}),
    ("SUM(ROUND(v,0))", {"v": [1.5, 2.5]}),
    ("SUM(LEN(v))", {"v": AB}),
    ("SUM(ABS(v))", {"v": [-1, 2, -3]}),
    ("SUM(MOD(v,2))", {"v": UP}),
    ("MAX(LEN(v))", {"v": AB}),
    ("AND(v>0)", {"v": N}),
    ("AND(v>1)", {"v": N}),
    ("OR(v>2)", {"v": N}),
    ("SUM(1/v)", {"v": [1, 0, 2]}),
    ("COUNT(1/v)", {"v": [1, 0, 2]}),
    ("SUM(IFERROR(1/v,0))", {"v": [1, 0, 2]}),
    ("AVERAGE(v*w)", {"v": N, "w": UP}),
    ("MAX(v-w)", {"v": N, "w": UP}),
    ("SUM(v)/COUNT(v)=AVERAGE(v)", {"v": N}),
    ("ROUND(SUM(v*w)*1.21,2)", {"v": [2, 1], "w": [9.99, 5.5]}),
    ("TEXTJOIN(\"-\",TRUE,v)", {"v": AB}),
    ("TEXTJOIN(\"-\",FALSE,v)", {"v": ["a", None, "b"]}),
    ("TEXTJOIN(\"-\",TRUE,v&\"!\")", {"v": ["a", "b"]}),
    ("TEXTJOIN(\"-\",TRUE,UPPER(v))", {"v": ["a", "b"]}),
    ("TEXTJOIN(\"-\",TRUE,v)", {"v": ["a", 1.5, True]}),
    ("CONCAT(v,\"!\")", {"v": ["a", 1, "b"]}),
    # criteria
    *[(f"COUNTIF(v,{c})", {"v": N}) for c in ('">1"', "2", '"2"', '"<>2"', '">=2"', '"<2"', '"<=2"', '"=2"', '"x"')],
    *[(f"COUNTIF(v,{c})", {"v": ["a", "A", "ab", "", None, 1]}) for c in ('"a"', '"a*"', '"?"', '"<>a"', '"="', '"<>"')],
    *[(f"COUNTIF(v,{c})", {"v": ["a", "b", "c", 1]}) for c in ('">=b"', '"<b"', '">a"', '"*"', '"~*"', '""')],
    ("COUNTIF(v,TRUE)", {"v": [True, False, 1]}),
    ("COUNTIF(v,\"~*\")", {"v": ["*", "a"]}),
    ("COUNTIF(v,a)", {"v": ["a", "", None, 0], "a": None}),
    ("COUNTIF(v,\"<>2\")", {"v": [2, 3, "x", None]}),
    ("COUNTIF(v,\"<a\")", {"v": ["A", "b", 1, "@"]}),
    ("COUNTIF(v,\">x\")", {"v": [1, "y"]}),
    ("COUNTIF(v,\"a?c\")", {"v": ["abc", "ac", "ABC", "abcd"]}),
    ("COUNTIF(v,\"*b*c\")", {"v": ["abc", "bcc", "cb", "abxc"]}),
    ("COUNTIF(a,\">1\")", {"a": 5}),
    *[(f"COUNTIF(v,{c})", {"v": [1, 12, "1a", 2, None]}) for c in ('"1*"', '"*"', '"1?"', '">="')],
    ("COUNTIF(v,\"1.?\")", {"v": [1.5, 1]}),
    ("SUMIF(v,\"*\")", {"v": [1.5, 2]}),
    ("MATCH(\"1*\",v,0)", {"v": [2, 12]}),
    ("MATCH(2,v,)", {"v": [1, 2]}),
    ("SUM(v>\"a\")", {"v": ["b", "a", 1]}),
    ("SUMIF(v,\">1\")", {"v": N}),
    ("SUMIF(v,\">1\",w)", {"v": N, "w": [10, 20, 30]}),
    ("SUMIF(v,\"a\",w)", {"v": ["a", "b", "a"], "w": [10, 20, 30]}),
    ("SUMIF(v,\"z\",w)", {"v": ["a", "b", "a"], "w": [10, 20, 30]}),
    ("SUMIF(v,\"a\",w)", {"v": ["a", "b"], "w": [10, "x"]}),
    ("SUMIF(v,\"<>a\",w)", {"v": ["a", "b", None], "w": [10, 20, 30]}),
    ("AVERAGEIF(v,\">1\")", {"v": N}),
    ("AVERAGEIF(v,\">9\")", {"v": N}),
    ("AVERAGEIF(v,\"a\",w)", {"v": ["a", "b", "a"], "w": [10, 20, 30]}),
    # looking up
    *[(f"INDEX(v,{k})", {"v": N}) for k in ("1", "2", "3", "4", "-1", "1.9")],
    ("SUM(INDEX(v,0))", {"v": N}),
    ("INDEX(v,2)&\"x\"", {"v": [1, None, 2]}),
    ("INDEX(v,2)", {"v": [1, None, 2]}),
    ("INDEX(w,MATCH(\"b\",v,0))", {"v": ["a", "b"], "w": [10, 20]}),
    *[(f"MATCH({x},v,0)", {"v": N}) for x in ("2", "9", '"2"', '"x"')],
    *[(f"MATCH({x},v)", {"v": UP}) for x in ("2.5", "0", "3", "9", "1")],
    *[(f"MATCH({x},v,1)", {"v": [1, 2, 2, 3]}) for x in ("2", "2.5", "1")],
    *[(f"MATCH({x},v,-1)", {"v": DOWN}) for x in ("2.5", "9", "2", "0", "3")],
    *[(f"MATCH({x},v,0)", {"v": ["a", "Bcd", "b"]}) for x in ('"b"', '"b*"', '"?"', '"z"', '""')],
    ("MATCH(\"b\",v,1)", {"v": ["a", "c"]}),
    ("MATCH(\"b\",v,-1)", {"v": ["c", "b", "a"]}),
    ("MATCH(2,v,0)", {"v": [1, 2, 2, 3]}),
    ("MATCH(TRUE,v,0)", {"v": [False, True]}),
    ("MATCH(2,v,5)", {"v": UP}),
    ("IFNA(MATCH(9,v,0),\"none\")", {"v": N}),
    ("IFERROR(MATCH(9,v,0),-1)", {"v": N}),
    ("XLOOKUP(2,v,w)", {"v": N, "w": [10, 20, 30]}, "INDEX(w,MATCH(2,v,0))"),
    ("XLOOKUP(9,v,w)", {"v": N, "w": [10, 20, 30]}, "INDEX(w,MATCH(9,v,0))"),
    ("XLOOKUP(9,v,w,\"none\")", {"v": N, "w": [10, 20, 30]}, "IFNA(INDEX(w,MATCH(9,v,0)),\"none\")"),
    ("XLOOKUP(\"B\",v,w)", {"v": ["a", "b"], "w": [10, 20]}, "INDEX(w,MATCH(\"B\",v,0))"),
    ("XLOOKUP(2.5,v,w,,-1)", {"v": UP, "w": [10, 20, 30]}, "INDEX(w,MATCH(2.5,v,1))"),
    ("XLOOKUP(0,v,w,,-1)", {"v": UP, "w": [10, 20, 30]}, "INDEX(w,MATCH(0,v,1))"),
    ("XLOOKUP(3,v,w,,-1)", {"v": UP, "w": [10, 20, 30]}, "INDEX(w,MATCH(3,v,1))"),
    ("XLOOKUP(2.5,v,w,,1)", {"v": DOWN, "w": [10, 20, 30]}, "INDEX(w,MATCH(2.5,v,-1))"),
    ("XLOOKUP(9,v,w,,1)", {"v": DOWN, "w": [10, 20, 30]}, "INDEX(w,MATCH(9,v,-1))"),
    ("XLOOKUP(\"b*\",v,w,,2)", {"v": ["a", "Bcd"], "w": [10, 20]}, "INDEX(w,MATCH(\"b*\",v,0))"),
    ("XLOOKUP(2,v,w,,0,-1)", {"v": [1, 2, 2, 3], "w": [10, 20, 30, 40]}, "INDEX(w,MATCH(2,v,1))"),
    ("XLOOKUP(2,v,w,,0,1)", {"v": [1, 2, 2, 3], "w": [10, 20, 30, 40]}, "INDEX(w,MATCH(2,v,0))"),
    # single cells
    *[(expression, {"a": None}) for expression in ("a=0", 'a=""', 'a&"x"', "a+1", "a<1", 'a<"x"', "IF(a,1,2)", "a*5", "-a")],
    *[(expression, {"a": None}) for expression in ("IFERROR(a,1)", 'SWITCH(a,"",1,2)', 'EXACT(a,"")', "AND(1=1,a)", "a=FALSE")],
    *[(expression, {"a": True}) for expression in ('a&""', "a=TRUE", "a+1", "a=1", "IF(a,1,2)", "SUM(a,1)")],
    *[(expression, {"a": "x"}) for expression in ("IF(a,1,2)", "AND(a,TRUE)", 'a="X"', "a+1", "a>5", "AND(a)")],
    ("DAYS(a,1)", {"a": "2024-01-31"}),
    ("ROUND(1.21*a,2)", {"a": 99.99}),
    ("a*b-c", {"a": 1.1, "b": 3, "c": 3.3}),
    ("IF(a>b,a,b)", {"a": 1, "b": 2}),
    ("a&\" \"&b", {"a": "x", "b": 2.50}),
]  # fmt: skip


def rows() -> list[tuple[str, dict[str, Any], str]]:
    """Expression, values, and what Calc is asked, without `=`."""
    plain = [piece.strip() for line in PLAIN.strip().splitlines() for piece in line.split(" | ")]
    found: list[tuple[str, dict[str, Any], str]] = [(expression, {}, expression) for expression in plain]
    return found + [(row[0], row[1], row[2] if len(row) == 3 else row[0]) for row in WITH_VALUES]


def code_of_ours(expression: str, code: str) -> str:
    if code not in ("Err:502", "Err:504"):
        return code
    if expression.startswith("INDEX("):
        return "#REF!"
    return "#VALUE!" if code == "Err:504" or re.match(r'VALUE\("', expression) else "#NUM!"


def main() -> None:
    asked = rows()
    twice = [row for place, row in enumerate(asked) if row in asked[:place]]
    assert not twice, f"these stand here twice: {twice}"
    results = calculate([(question, values) for _, values, question in asked])
    with VECTORS.open("w", encoding="utf-8") as file:
        for (expression, values, question), result in zip(asked, results, strict=True):
            vector: dict[str, Any] = {"formula": f"={expression}"}
            if values:
                vector["values"] = values
            if isinstance(result, dict):
                code = code_of_ours(expression, result["error"])
                vector["error"] = code
                if code != result["error"]:
                    vector["calc"] = result["error"]
            else:
                vector["result"] = int(result) if isinstance(result, float) and result.is_integer() else result
            if question != expression:
                vector["asked"] = f"={question}"
            file.write(json.dumps(vector, ensure_ascii=False) + "\n")
    print(f"{len(asked)} vectors written to {VECTORS.name}")


if __name__ == "__main__":
    main()
