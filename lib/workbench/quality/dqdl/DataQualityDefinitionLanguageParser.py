# Generated from DataQualityDefinitionLanguage.g4 by ANTLR 4.13.2
# encoding: utf-8
from antlr4 import *
from io import StringIO
import sys
if sys.version_info[1] > 5:
	from typing import TextIO
else:
	from typing.io import TextIO

def serializedATN():
    return [
        4,1,58,641,2,0,7,0,2,1,7,1,2,2,7,2,2,3,7,3,2,4,7,4,2,5,7,5,2,6,7,
        6,2,7,7,7,2,8,7,8,2,9,7,9,2,10,7,10,2,11,7,11,2,12,7,12,2,13,7,13,
        2,14,7,14,2,15,7,15,2,16,7,16,2,17,7,17,2,18,7,18,2,19,7,19,2,20,
        7,20,2,21,7,21,2,22,7,22,2,23,7,23,2,24,7,24,2,25,7,25,2,26,7,26,
        2,27,7,27,2,28,7,28,2,29,7,29,2,30,7,30,2,31,7,31,2,32,7,32,2,33,
        7,33,2,34,7,34,2,35,7,35,2,36,7,36,2,37,7,37,2,38,7,38,2,39,7,39,
        2,40,7,40,2,41,7,41,2,42,7,42,2,43,7,43,2,44,7,44,2,45,7,45,2,46,
        7,46,2,47,7,47,2,48,7,48,2,49,7,49,2,50,7,50,2,51,7,51,2,52,7,52,
        2,53,7,53,2,54,7,54,2,55,7,55,2,56,7,56,2,57,7,57,2,58,7,58,2,59,
        7,59,2,60,7,60,2,61,7,61,1,0,1,0,1,1,1,1,1,2,1,2,1,3,1,3,1,4,1,4,
        1,5,1,5,1,6,1,6,1,6,1,7,1,7,1,8,1,8,1,8,1,9,1,9,1,10,1,10,1,11,1,
        11,1,11,1,11,1,11,1,11,1,11,1,11,1,11,1,11,3,11,159,8,11,1,12,1,
        12,1,12,1,12,1,12,1,12,1,12,1,12,1,12,3,12,170,8,12,1,13,1,13,1,
        13,1,13,5,13,176,8,13,10,13,12,13,179,9,13,3,13,181,8,13,1,14,1,
        14,1,14,1,14,1,14,1,14,1,14,1,14,3,14,191,8,14,1,15,1,15,1,16,1,
        16,1,16,1,16,1,16,1,16,1,16,1,16,3,16,203,8,16,1,16,1,16,1,16,1,
        16,5,16,209,8,16,10,16,12,16,212,9,16,1,17,1,17,1,18,1,18,1,18,1,
        19,1,19,1,19,1,19,5,19,223,8,19,10,19,12,19,226,9,19,1,19,1,19,1,
        20,3,20,231,8,20,1,20,1,20,1,20,1,20,1,20,1,20,1,20,1,20,1,20,1,
        20,1,20,1,20,1,20,1,20,3,20,247,8,20,1,20,1,20,1,20,3,20,252,8,20,
        1,20,1,20,3,20,256,8,20,1,21,1,21,1,21,1,22,1,22,1,22,1,22,1,22,
        3,22,266,8,22,1,23,1,23,1,23,1,23,5,23,272,8,23,10,23,12,23,275,
        9,23,1,23,1,23,1,24,3,24,280,8,24,1,24,1,24,1,24,3,24,285,8,24,1,
        24,1,24,1,24,3,24,290,8,24,1,24,1,24,1,24,3,24,295,8,24,1,24,3,24,
        298,8,24,1,25,1,25,1,26,1,26,1,26,1,26,5,26,306,8,26,10,26,12,26,
        309,9,26,1,26,1,26,1,27,3,27,314,8,27,1,27,1,27,1,27,1,27,1,27,1,
        27,1,27,1,27,1,27,1,27,1,27,1,27,1,27,1,27,3,27,330,8,27,1,27,1,
        27,1,27,3,27,335,8,27,1,27,1,27,3,27,339,8,27,1,28,1,28,1,28,1,28,
        5,28,345,8,28,10,28,12,28,348,9,28,1,28,1,28,1,29,3,29,353,8,29,
        1,29,1,29,1,29,1,29,1,29,1,29,1,29,1,29,1,29,1,29,1,29,1,29,1,29,
        1,29,3,29,369,8,29,1,29,1,29,1,29,3,29,374,8,29,1,29,1,29,3,29,378,
        8,29,1,30,1,30,1,30,1,30,5,30,384,8,30,10,30,12,30,387,9,30,1,30,
        1,30,1,31,3,31,392,8,31,1,31,1,31,1,31,1,31,1,31,1,31,1,31,1,31,
        1,31,1,31,1,31,1,31,1,31,1,31,3,31,408,8,31,1,31,1,31,1,31,3,31,
        413,8,31,1,31,1,31,3,31,417,8,31,1,32,1,32,1,33,1,33,1,34,1,34,1,
        35,1,35,1,36,3,36,428,8,36,1,36,1,36,1,37,1,37,1,37,1,37,3,37,436,
        8,37,1,38,1,38,1,38,1,38,1,38,3,38,443,8,38,1,39,1,39,1,39,1,40,
        1,40,5,40,450,8,40,10,40,12,40,453,9,40,1,40,3,40,456,8,40,1,40,
        3,40,459,8,40,1,40,3,40,462,8,40,1,40,5,40,465,8,40,10,40,12,40,
        468,9,40,1,40,3,40,471,8,40,1,41,1,41,5,41,475,8,41,10,41,12,41,
        478,9,41,1,42,1,42,3,42,482,8,42,1,43,1,43,1,43,1,43,1,44,5,44,489,
        8,44,10,44,12,44,492,9,44,1,45,1,45,1,45,1,45,1,45,3,45,499,8,45,
        1,45,3,45,502,8,45,1,45,1,45,1,45,1,45,1,45,1,45,5,45,510,8,45,10,
        45,12,45,513,9,45,1,46,1,46,1,46,5,46,518,8,46,10,46,12,46,521,9,
        46,1,47,1,47,1,47,5,47,526,8,47,10,47,12,47,529,9,47,1,48,1,48,1,
        48,1,48,1,48,1,48,1,48,1,48,1,48,1,48,1,48,3,48,542,8,48,1,49,1,
        49,1,49,1,49,1,49,1,49,1,49,1,49,1,49,1,49,1,49,3,49,555,8,49,1,
        50,1,50,1,50,1,50,5,50,561,8,50,10,50,12,50,564,9,50,1,50,1,50,1,
        51,1,51,1,51,1,51,1,52,1,52,3,52,574,8,52,1,53,1,53,1,53,1,53,5,
        53,580,8,53,10,53,12,53,583,9,53,1,53,1,53,1,54,1,54,1,54,1,54,1,
        55,1,55,1,55,1,55,1,56,1,56,1,56,1,56,1,56,3,56,600,8,56,1,57,3,
        57,603,8,57,1,57,3,57,606,8,57,1,57,3,57,609,8,57,1,57,3,57,612,
        8,57,1,57,1,57,1,58,1,58,1,58,1,58,1,59,1,59,1,59,1,59,5,59,624,
        8,59,10,59,12,59,627,9,59,3,59,629,8,59,1,59,1,59,1,60,1,60,1,60,
        1,60,1,61,1,61,1,61,1,61,1,61,0,2,32,90,62,0,2,4,6,8,10,12,14,16,
        18,20,22,24,26,28,30,32,34,36,38,40,42,44,46,48,50,52,54,56,58,60,
        62,64,66,68,70,72,74,76,78,80,82,84,86,88,90,92,94,96,98,100,102,
        104,106,108,110,112,114,116,118,120,122,0,8,1,0,6,8,2,0,48,48,52,
        52,1,0,9,13,1,0,50,51,2,0,14,14,55,55,2,0,14,16,55,55,2,0,54,54,
        57,57,2,0,33,33,35,35,680,0,124,1,0,0,0,2,126,1,0,0,0,4,128,1,0,
        0,0,6,130,1,0,0,0,8,132,1,0,0,0,10,134,1,0,0,0,12,136,1,0,0,0,14,
        139,1,0,0,0,16,141,1,0,0,0,18,144,1,0,0,0,20,146,1,0,0,0,22,158,
        1,0,0,0,24,169,1,0,0,0,26,180,1,0,0,0,28,190,1,0,0,0,30,192,1,0,
        0,0,32,202,1,0,0,0,34,213,1,0,0,0,36,215,1,0,0,0,38,218,1,0,0,0,
        40,255,1,0,0,0,42,257,1,0,0,0,44,265,1,0,0,0,46,267,1,0,0,0,48,297,
        1,0,0,0,50,299,1,0,0,0,52,301,1,0,0,0,54,338,1,0,0,0,56,340,1,0,
        0,0,58,377,1,0,0,0,60,379,1,0,0,0,62,416,1,0,0,0,64,418,1,0,0,0,
        66,420,1,0,0,0,68,422,1,0,0,0,70,424,1,0,0,0,72,427,1,0,0,0,74,431,
        1,0,0,0,76,442,1,0,0,0,78,444,1,0,0,0,80,447,1,0,0,0,82,472,1,0,
        0,0,84,481,1,0,0,0,86,483,1,0,0,0,88,490,1,0,0,0,90,501,1,0,0,0,
        92,514,1,0,0,0,94,522,1,0,0,0,96,541,1,0,0,0,98,554,1,0,0,0,100,
        556,1,0,0,0,102,567,1,0,0,0,104,573,1,0,0,0,106,575,1,0,0,0,108,
        586,1,0,0,0,110,590,1,0,0,0,112,599,1,0,0,0,114,602,1,0,0,0,116,
        615,1,0,0,0,118,619,1,0,0,0,120,632,1,0,0,0,122,636,1,0,0,0,124,
        125,5,1,0,0,125,1,1,0,0,0,126,127,5,2,0,0,127,3,1,0,0,0,128,129,
        5,3,0,0,129,5,1,0,0,0,130,131,5,4,0,0,131,7,1,0,0,0,132,133,5,5,
        0,0,133,9,1,0,0,0,134,135,7,0,0,0,135,11,1,0,0,0,136,137,7,1,0,0,
        137,138,3,10,5,0,138,13,1,0,0,0,139,140,7,2,0,0,140,15,1,0,0,0,141,
        142,7,1,0,0,142,143,3,14,7,0,143,17,1,0,0,0,144,145,7,3,0,0,145,
        19,1,0,0,0,146,147,7,4,0,0,147,21,1,0,0,0,148,159,5,49,0,0,149,159,
        3,8,4,0,150,151,5,31,0,0,151,152,3,8,4,0,152,153,3,20,10,0,153,154,
        3,12,6,0,154,155,5,32,0,0,155,159,1,0,0,0,156,159,3,18,9,0,157,159,
        5,36,0,0,158,148,1,0,0,0,158,149,1,0,0,0,158,150,1,0,0,0,158,156,
        1,0,0,0,158,157,1,0,0,0,159,23,1,0,0,0,160,170,5,48,0,0,161,162,
        5,55,0,0,162,170,5,48,0,0,163,170,5,52,0,0,164,165,5,55,0,0,165,
        170,5,52,0,0,166,170,5,53,0,0,167,168,5,55,0,0,168,170,5,53,0,0,
        169,160,1,0,0,0,169,161,1,0,0,0,169,163,1,0,0,0,169,164,1,0,0,0,
        169,166,1,0,0,0,169,167,1,0,0,0,170,25,1,0,0,0,171,181,3,32,16,0,
        172,177,3,32,16,0,173,174,5,24,0,0,174,176,3,32,16,0,175,173,1,0,
        0,0,176,179,1,0,0,0,177,175,1,0,0,0,177,178,1,0,0,0,178,181,1,0,
        0,0,179,177,1,0,0,0,180,171,1,0,0,0,180,172,1,0,0,0,181,27,1,0,0,
        0,182,183,5,57,0,0,183,184,5,31,0,0,184,191,5,32,0,0,185,186,5,57,
        0,0,186,187,5,31,0,0,187,188,3,26,13,0,188,189,5,32,0,0,189,191,
        1,0,0,0,190,182,1,0,0,0,190,185,1,0,0,0,191,29,1,0,0,0,192,193,7,
        5,0,0,193,31,1,0,0,0,194,195,6,16,-1,0,195,203,3,28,14,0,196,197,
        5,31,0,0,197,198,3,32,16,0,198,199,5,32,0,0,199,203,1,0,0,0,200,
        203,3,24,12,0,201,203,5,36,0,0,202,194,1,0,0,0,202,196,1,0,0,0,202,
        200,1,0,0,0,202,201,1,0,0,0,203,210,1,0,0,0,204,205,10,5,0,0,205,
        206,3,30,15,0,206,207,3,32,16,6,207,209,1,0,0,0,208,204,1,0,0,0,
        209,212,1,0,0,0,210,208,1,0,0,0,210,211,1,0,0,0,211,33,1,0,0,0,212,
        210,1,0,0,0,213,214,5,54,0,0,214,35,1,0,0,0,215,216,5,17,0,0,216,
        217,3,34,17,0,217,37,1,0,0,0,218,219,5,29,0,0,219,224,3,32,16,0,
        220,221,5,24,0,0,221,223,3,32,16,0,222,220,1,0,0,0,223,226,1,0,0,
        0,224,222,1,0,0,0,224,225,1,0,0,0,225,227,1,0,0,0,226,224,1,0,0,
        0,227,228,5,30,0,0,228,39,1,0,0,0,229,231,5,46,0,0,230,229,1,0,0,
        0,230,231,1,0,0,0,231,232,1,0,0,0,232,233,5,39,0,0,233,234,3,32,
        16,0,234,235,5,33,0,0,235,236,3,32,16,0,236,256,1,0,0,0,237,238,
        5,41,0,0,238,256,3,32,16,0,239,240,5,42,0,0,240,256,3,32,16,0,241,
        242,5,43,0,0,242,256,3,32,16,0,243,244,5,44,0,0,244,256,3,32,16,
        0,245,247,5,47,0,0,246,245,1,0,0,0,246,247,1,0,0,0,247,248,1,0,0,
        0,248,249,5,40,0,0,249,256,3,32,16,0,250,252,5,46,0,0,251,250,1,
        0,0,0,251,252,1,0,0,0,252,253,1,0,0,0,253,254,5,45,0,0,254,256,3,
        38,19,0,255,230,1,0,0,0,255,237,1,0,0,0,255,239,1,0,0,0,255,241,
        1,0,0,0,255,243,1,0,0,0,255,246,1,0,0,0,255,251,1,0,0,0,256,41,1,
        0,0,0,257,258,5,18,0,0,258,259,5,57,0,0,259,43,1,0,0,0,260,266,3,
        34,17,0,261,266,3,42,21,0,262,266,5,36,0,0,263,266,5,37,0,0,264,
        266,5,38,0,0,265,260,1,0,0,0,265,261,1,0,0,0,265,262,1,0,0,0,265,
        263,1,0,0,0,265,264,1,0,0,0,266,45,1,0,0,0,267,268,5,29,0,0,268,
        273,3,44,22,0,269,270,5,24,0,0,270,272,3,44,22,0,271,269,1,0,0,0,
        272,275,1,0,0,0,273,271,1,0,0,0,273,274,1,0,0,0,274,276,1,0,0,0,
        275,273,1,0,0,0,276,277,5,30,0,0,277,47,1,0,0,0,278,280,5,47,0,0,
        279,278,1,0,0,0,279,280,1,0,0,0,280,281,1,0,0,0,281,282,5,40,0,0,
        282,298,3,44,22,0,283,285,5,46,0,0,284,283,1,0,0,0,284,285,1,0,0,
        0,285,286,1,0,0,0,286,287,5,45,0,0,287,298,3,46,23,0,288,290,5,46,
        0,0,289,288,1,0,0,0,289,290,1,0,0,0,290,291,1,0,0,0,291,292,5,45,
        0,0,292,298,3,42,21,0,293,295,5,46,0,0,294,293,1,0,0,0,294,295,1,
        0,0,0,295,296,1,0,0,0,296,298,3,36,18,0,297,279,1,0,0,0,297,284,
        1,0,0,0,297,289,1,0,0,0,297,294,1,0,0,0,298,49,1,0,0,0,299,300,5,
        57,0,0,300,51,1,0,0,0,301,302,5,29,0,0,302,307,3,22,11,0,303,304,
        5,24,0,0,304,306,3,22,11,0,305,303,1,0,0,0,306,309,1,0,0,0,307,305,
        1,0,0,0,307,308,1,0,0,0,308,310,1,0,0,0,309,307,1,0,0,0,310,311,
        5,30,0,0,311,53,1,0,0,0,312,314,5,46,0,0,313,312,1,0,0,0,313,314,
        1,0,0,0,314,315,1,0,0,0,315,316,5,39,0,0,316,317,3,22,11,0,317,318,
        5,33,0,0,318,319,3,22,11,0,319,339,1,0,0,0,320,321,5,41,0,0,321,
        339,3,22,11,0,322,323,5,42,0,0,323,339,3,22,11,0,324,325,5,43,0,
        0,325,339,3,22,11,0,326,327,5,44,0,0,327,339,3,22,11,0,328,330,5,
        47,0,0,329,328,1,0,0,0,329,330,1,0,0,0,330,331,1,0,0,0,331,332,5,
        40,0,0,332,339,3,22,11,0,333,335,5,46,0,0,334,333,1,0,0,0,334,335,
        1,0,0,0,335,336,1,0,0,0,336,337,5,45,0,0,337,339,3,52,26,0,338,313,
        1,0,0,0,338,320,1,0,0,0,338,322,1,0,0,0,338,324,1,0,0,0,338,326,
        1,0,0,0,338,329,1,0,0,0,338,334,1,0,0,0,339,55,1,0,0,0,340,341,5,
        29,0,0,341,346,3,12,6,0,342,343,5,24,0,0,343,345,3,12,6,0,344,342,
        1,0,0,0,345,348,1,0,0,0,346,344,1,0,0,0,346,347,1,0,0,0,347,349,
        1,0,0,0,348,346,1,0,0,0,349,350,5,30,0,0,350,57,1,0,0,0,351,353,
        5,46,0,0,352,351,1,0,0,0,352,353,1,0,0,0,353,354,1,0,0,0,354,355,
        5,39,0,0,355,356,3,12,6,0,356,357,5,33,0,0,357,358,3,12,6,0,358,
        378,1,0,0,0,359,360,5,41,0,0,360,378,3,12,6,0,361,362,5,42,0,0,362,
        378,3,12,6,0,363,364,5,43,0,0,364,378,3,12,6,0,365,366,5,44,0,0,
        366,378,3,12,6,0,367,369,5,47,0,0,368,367,1,0,0,0,368,369,1,0,0,
        0,369,370,1,0,0,0,370,371,5,40,0,0,371,378,3,12,6,0,372,374,5,46,
        0,0,373,372,1,0,0,0,373,374,1,0,0,0,374,375,1,0,0,0,375,376,5,45,
        0,0,376,378,3,56,28,0,377,352,1,0,0,0,377,359,1,0,0,0,377,361,1,
        0,0,0,377,363,1,0,0,0,377,365,1,0,0,0,377,368,1,0,0,0,377,373,1,
        0,0,0,378,59,1,0,0,0,379,380,5,29,0,0,380,385,3,16,8,0,381,382,5,
        24,0,0,382,384,3,16,8,0,383,381,1,0,0,0,384,387,1,0,0,0,385,383,
        1,0,0,0,385,386,1,0,0,0,386,388,1,0,0,0,387,385,1,0,0,0,388,389,
        5,30,0,0,389,61,1,0,0,0,390,392,5,46,0,0,391,390,1,0,0,0,391,392,
        1,0,0,0,392,393,1,0,0,0,393,394,5,39,0,0,394,395,3,16,8,0,395,396,
        5,33,0,0,396,397,3,16,8,0,397,417,1,0,0,0,398,399,5,41,0,0,399,417,
        3,16,8,0,400,401,5,42,0,0,401,417,3,16,8,0,402,403,5,43,0,0,403,
        417,3,16,8,0,404,405,5,44,0,0,405,417,3,16,8,0,406,408,5,47,0,0,
        407,406,1,0,0,0,407,408,1,0,0,0,408,409,1,0,0,0,409,410,5,40,0,0,
        410,417,3,16,8,0,411,413,5,46,0,0,412,411,1,0,0,0,412,413,1,0,0,
        0,413,414,1,0,0,0,414,415,5,45,0,0,415,417,3,60,30,0,416,391,1,0,
        0,0,416,398,1,0,0,0,416,400,1,0,0,0,416,402,1,0,0,0,416,404,1,0,
        0,0,416,407,1,0,0,0,416,412,1,0,0,0,417,63,1,0,0,0,418,419,5,57,
        0,0,419,65,1,0,0,0,420,421,5,57,0,0,421,67,1,0,0,0,422,423,7,6,0,
        0,423,69,1,0,0,0,424,425,7,7,0,0,425,71,1,0,0,0,426,428,3,70,35,
        0,427,426,1,0,0,0,427,428,1,0,0,0,428,429,1,0,0,0,429,430,3,68,34,
        0,430,73,1,0,0,0,431,432,5,19,0,0,432,435,3,50,25,0,433,436,3,48,
        24,0,434,436,3,40,20,0,435,433,1,0,0,0,435,434,1,0,0,0,436,75,1,
        0,0,0,437,443,3,40,20,0,438,443,3,48,24,0,439,443,3,54,27,0,440,
        443,3,58,29,0,441,443,3,62,31,0,442,437,1,0,0,0,442,438,1,0,0,0,
        442,439,1,0,0,0,442,440,1,0,0,0,442,441,1,0,0,0,443,77,1,0,0,0,444,
        445,5,20,0,0,445,446,3,34,17,0,446,79,1,0,0,0,447,451,3,64,32,0,
        448,450,3,72,36,0,449,448,1,0,0,0,450,453,1,0,0,0,451,449,1,0,0,
        0,451,452,1,0,0,0,452,455,1,0,0,0,453,451,1,0,0,0,454,456,3,76,38,
        0,455,454,1,0,0,0,455,456,1,0,0,0,456,458,1,0,0,0,457,459,3,78,39,
        0,458,457,1,0,0,0,458,459,1,0,0,0,459,461,1,0,0,0,460,462,3,120,
        60,0,461,460,1,0,0,0,461,462,1,0,0,0,462,466,1,0,0,0,463,465,3,74,
        37,0,464,463,1,0,0,0,465,468,1,0,0,0,466,464,1,0,0,0,466,467,1,0,
        0,0,467,470,1,0,0,0,468,466,1,0,0,0,469,471,3,120,60,0,470,469,1,
        0,0,0,470,471,1,0,0,0,471,81,1,0,0,0,472,476,3,66,33,0,473,475,3,
        72,36,0,474,473,1,0,0,0,475,478,1,0,0,0,476,474,1,0,0,0,476,477,
        1,0,0,0,477,83,1,0,0,0,478,476,1,0,0,0,479,482,3,44,22,0,480,482,
        3,46,23,0,481,479,1,0,0,0,481,480,1,0,0,0,482,85,1,0,0,0,483,484,
        5,57,0,0,484,485,5,40,0,0,485,486,3,84,42,0,486,87,1,0,0,0,487,489,
        3,86,43,0,488,487,1,0,0,0,489,492,1,0,0,0,490,488,1,0,0,0,490,491,
        1,0,0,0,491,89,1,0,0,0,492,490,1,0,0,0,493,494,6,45,-1,0,494,495,
        5,31,0,0,495,496,3,90,45,0,496,498,5,32,0,0,497,499,3,120,60,0,498,
        497,1,0,0,0,498,499,1,0,0,0,499,502,1,0,0,0,500,502,3,80,40,0,501,
        493,1,0,0,0,501,500,1,0,0,0,502,511,1,0,0,0,503,504,10,3,0,0,504,
        505,5,33,0,0,505,510,3,90,45,4,506,507,10,2,0,0,507,508,5,34,0,0,
        508,510,3,90,45,3,509,503,1,0,0,0,509,506,1,0,0,0,510,513,1,0,0,
        0,511,509,1,0,0,0,511,512,1,0,0,0,512,91,1,0,0,0,513,511,1,0,0,0,
        514,519,3,90,45,0,515,516,5,24,0,0,516,518,3,90,45,0,517,515,1,0,
        0,0,518,521,1,0,0,0,519,517,1,0,0,0,519,520,1,0,0,0,520,93,1,0,0,
        0,521,519,1,0,0,0,522,527,3,82,41,0,523,524,5,24,0,0,524,526,3,82,
        41,0,525,523,1,0,0,0,526,529,1,0,0,0,527,525,1,0,0,0,527,528,1,0,
        0,0,528,95,1,0,0,0,529,527,1,0,0,0,530,531,3,4,2,0,531,532,5,40,
        0,0,532,533,5,29,0,0,533,534,3,92,46,0,534,535,5,30,0,0,535,542,
        1,0,0,0,536,537,3,4,2,0,537,538,5,40,0,0,538,539,5,29,0,0,539,540,
        5,30,0,0,540,542,1,0,0,0,541,530,1,0,0,0,541,536,1,0,0,0,542,97,
        1,0,0,0,543,544,3,6,3,0,544,545,5,40,0,0,545,546,5,29,0,0,546,547,
        3,94,47,0,547,548,5,30,0,0,548,555,1,0,0,0,549,550,3,6,3,0,550,551,
        5,40,0,0,551,552,5,29,0,0,552,553,5,30,0,0,553,555,1,0,0,0,554,543,
        1,0,0,0,554,549,1,0,0,0,555,99,1,0,0,0,556,557,5,27,0,0,557,562,
        3,102,51,0,558,559,5,24,0,0,559,561,3,102,51,0,560,558,1,0,0,0,561,
        564,1,0,0,0,562,560,1,0,0,0,562,563,1,0,0,0,563,565,1,0,0,0,564,
        562,1,0,0,0,565,566,5,28,0,0,566,101,1,0,0,0,567,568,5,54,0,0,568,
        569,5,23,0,0,569,570,3,104,52,0,570,103,1,0,0,0,571,574,5,54,0,0,
        572,574,3,106,53,0,573,571,1,0,0,0,573,572,1,0,0,0,574,105,1,0,0,
        0,575,576,5,29,0,0,576,581,5,54,0,0,577,578,5,24,0,0,578,580,5,54,
        0,0,579,577,1,0,0,0,580,583,1,0,0,0,581,579,1,0,0,0,581,582,1,0,
        0,0,582,584,1,0,0,0,583,581,1,0,0,0,584,585,5,30,0,0,585,107,1,0,
        0,0,586,587,3,0,0,0,587,588,5,40,0,0,588,589,3,100,50,0,589,109,
        1,0,0,0,590,591,3,2,1,0,591,592,5,40,0,0,592,593,3,100,50,0,593,
        111,1,0,0,0,594,600,3,96,48,0,595,600,3,98,49,0,596,597,3,96,48,
        0,597,598,3,98,49,0,598,600,1,0,0,0,599,594,1,0,0,0,599,595,1,0,
        0,0,599,596,1,0,0,0,600,113,1,0,0,0,601,603,3,108,54,0,602,601,1,
        0,0,0,602,603,1,0,0,0,603,605,1,0,0,0,604,606,3,110,55,0,605,604,
        1,0,0,0,605,606,1,0,0,0,606,608,1,0,0,0,607,609,3,88,44,0,608,607,
        1,0,0,0,608,609,1,0,0,0,609,611,1,0,0,0,610,612,3,122,61,0,611,610,
        1,0,0,0,611,612,1,0,0,0,612,613,1,0,0,0,613,614,3,112,56,0,614,115,
        1,0,0,0,615,616,3,34,17,0,616,617,5,40,0,0,617,618,3,34,17,0,618,
        117,1,0,0,0,619,628,5,29,0,0,620,625,3,116,58,0,621,622,5,24,0,0,
        622,624,3,116,58,0,623,621,1,0,0,0,624,627,1,0,0,0,625,623,1,0,0,
        0,625,626,1,0,0,0,626,629,1,0,0,0,627,625,1,0,0,0,628,620,1,0,0,
        0,628,629,1,0,0,0,629,630,1,0,0,0,630,631,5,30,0,0,631,119,1,0,0,
        0,632,633,5,21,0,0,633,634,5,40,0,0,634,635,3,118,59,0,635,121,1,
        0,0,0,636,637,5,22,0,0,637,638,5,40,0,0,638,639,3,118,59,0,639,123,
        1,0,0,0,64,158,169,177,180,190,202,210,224,230,246,251,255,265,273,
        279,284,289,294,297,307,313,329,334,338,346,352,368,373,377,385,
        391,407,412,416,427,435,442,451,455,458,461,466,470,476,481,490,
        498,501,509,511,519,527,541,554,562,573,581,599,602,605,608,611,
        625,628
    ]

class DataQualityDefinitionLanguageParser ( Parser ):

    grammarFileName = "DataQualityDefinitionLanguage.g4"

    atn = ATNDeserializer().deserialize(serializedATN())

    decisionsToDFA = [ DFA(ds, i) for i, ds in enumerate(atn.decisionToState) ]

    sharedContextCache = PredictionContextCache()

    literalNames = [ "<INVALID>", "'Metadata'", "'DataSources'", "'Rules'", 
                     "'Analyzers'", "'now()'", "'days'", "'hours'", "'minutes'", 
                     "'B'", "'KB'", "'MB'", "'GB'", "'TB'", "'+'", "'/'", 
                     "'*'", "'matches'", "'$'", "'with'", "'where'", "'labels'", 
                     "'DefaultLabels'", "':'", "','", "'''", "'\"'", "'{'", 
                     "'}'", "'['", "']'", "'('", "')'", "<INVALID>", "<INVALID>", 
                     "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                     "'between'", "'='", "'>'", "'>='", "'<'", "'<='", "'in'", 
                     "'not'", "'!'", "<INVALID>", "<INVALID>", "<INVALID>", 
                     "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                     "'-'" ]

    symbolicNames = [ "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "COLON", "COMMA", 
                      "SINGLE_QUOTE", "QUOTE", "LCURL", "RCURL", "LBRAC", 
                      "RBRAC", "LPAREN", "RPAREN", "AND", "OR", "OF", "NULL", 
                      "EMPTY", "WHITESPACES_ONLY", "BETWEEN", "EQUAL_TO", 
                      "GREATER_THAN", "GREATER_THAN_EQUAL_TO", "LESS_THAN", 
                      "LESS_THAN_EQUAL_TO", "IN", "NOT", "NEGATION", "DIGIT", 
                      "DATE", "TIME", "MIL_TIME", "INT", "DECIMAL", "QUOTED_STRING", 
                      "NEGATIVE", "LINE_COMMENT", "IDENTIFIER", "WS" ]

    RULE_metadataSectionStart = 0
    RULE_dataSourcesSectionStart = 1
    RULE_rulesSectionStart = 2
    RULE_analyzersSectionStart = 3
    RULE_dateNow = 4
    RULE_durationUnit = 5
    RULE_durationExpression = 6
    RULE_sizeUnit = 7
    RULE_sizeExpression = 8
    RULE_timeExpression = 9
    RULE_dateExpressionOp = 10
    RULE_dateExpression = 11
    RULE_atomicNumber = 12
    RULE_functionParameters = 13
    RULE_functionCall = 14
    RULE_numberOp = 15
    RULE_number = 16
    RULE_quotedString = 17
    RULE_matchesRegexCondition = 18
    RULE_numberArray = 19
    RULE_numberBasedCondition = 20
    RULE_variableDereference = 21
    RULE_stringValues = 22
    RULE_stringValuesArray = 23
    RULE_stringBasedCondition = 24
    RULE_tagValues = 25
    RULE_dateExpressionArray = 26
    RULE_dateBasedCondition = 27
    RULE_durationExpressionArray = 28
    RULE_durationBasedCondition = 29
    RULE_sizeExpressionArray = 30
    RULE_sizeBasedCondition = 31
    RULE_ruleType = 32
    RULE_analyzerType = 33
    RULE_parameter = 34
    RULE_connectorWord = 35
    RULE_parameterWithConnectorWord = 36
    RULE_tagWithCondition = 37
    RULE_condition = 38
    RULE_whereClause = 39
    RULE_dqRule = 40
    RULE_dqAnalyzer = 41
    RULE_expression = 42
    RULE_variableDeclaration = 43
    RULE_variableDeclarations = 44
    RULE_topLevelRule = 45
    RULE_dqRules = 46
    RULE_dqAnalyzers = 47
    RULE_rules = 48
    RULE_analyzers = 49
    RULE_dictionary = 50
    RULE_pair = 51
    RULE_pairValue = 52
    RULE_array = 53
    RULE_metadata = 54
    RULE_dataSources = 55
    RULE_rulesOrAnalyzers = 56
    RULE_document = 57
    RULE_labelPair = 58
    RULE_labelList = 59
    RULE_labels = 60
    RULE_defaultLabels = 61

    ruleNames =  [ "metadataSectionStart", "dataSourcesSectionStart", "rulesSectionStart", 
                   "analyzersSectionStart", "dateNow", "durationUnit", "durationExpression", 
                   "sizeUnit", "sizeExpression", "timeExpression", "dateExpressionOp", 
                   "dateExpression", "atomicNumber", "functionParameters", 
                   "functionCall", "numberOp", "number", "quotedString", 
                   "matchesRegexCondition", "numberArray", "numberBasedCondition", 
                   "variableDereference", "stringValues", "stringValuesArray", 
                   "stringBasedCondition", "tagValues", "dateExpressionArray", 
                   "dateBasedCondition", "durationExpressionArray", "durationBasedCondition", 
                   "sizeExpressionArray", "sizeBasedCondition", "ruleType", 
                   "analyzerType", "parameter", "connectorWord", "parameterWithConnectorWord", 
                   "tagWithCondition", "condition", "whereClause", "dqRule", 
                   "dqAnalyzer", "expression", "variableDeclaration", "variableDeclarations", 
                   "topLevelRule", "dqRules", "dqAnalyzers", "rules", "analyzers", 
                   "dictionary", "pair", "pairValue", "array", "metadata", 
                   "dataSources", "rulesOrAnalyzers", "document", "labelPair", 
                   "labelList", "labels", "defaultLabels" ]

    EOF = Token.EOF
    T__0=1
    T__1=2
    T__2=3
    T__3=4
    T__4=5
    T__5=6
    T__6=7
    T__7=8
    T__8=9
    T__9=10
    T__10=11
    T__11=12
    T__12=13
    T__13=14
    T__14=15
    T__15=16
    T__16=17
    T__17=18
    T__18=19
    T__19=20
    T__20=21
    T__21=22
    COLON=23
    COMMA=24
    SINGLE_QUOTE=25
    QUOTE=26
    LCURL=27
    RCURL=28
    LBRAC=29
    RBRAC=30
    LPAREN=31
    RPAREN=32
    AND=33
    OR=34
    OF=35
    NULL=36
    EMPTY=37
    WHITESPACES_ONLY=38
    BETWEEN=39
    EQUAL_TO=40
    GREATER_THAN=41
    GREATER_THAN_EQUAL_TO=42
    LESS_THAN=43
    LESS_THAN_EQUAL_TO=44
    IN=45
    NOT=46
    NEGATION=47
    DIGIT=48
    DATE=49
    TIME=50
    MIL_TIME=51
    INT=52
    DECIMAL=53
    QUOTED_STRING=54
    NEGATIVE=55
    LINE_COMMENT=56
    IDENTIFIER=57
    WS=58

    def __init__(self, input:TokenStream, output:TextIO = sys.stdout):
        super().__init__(input, output)
        self.checkVersion("4.13.2")
        self._interp = ParserATNSimulator(self, self.atn, self.decisionsToDFA, self.sharedContextCache)
        self._predicates = None




    class MetadataSectionStartContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser


        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_metadataSectionStart




    def metadataSectionStart(self):

        localctx = DataQualityDefinitionLanguageParser.MetadataSectionStartContext(self, self._ctx, self.state)
        self.enterRule(localctx, 0, self.RULE_metadataSectionStart)
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 124
            self.match(DataQualityDefinitionLanguageParser.T__0)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class DataSourcesSectionStartContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser


        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_dataSourcesSectionStart




    def dataSourcesSectionStart(self):

        localctx = DataQualityDefinitionLanguageParser.DataSourcesSectionStartContext(self, self._ctx, self.state)
        self.enterRule(localctx, 2, self.RULE_dataSourcesSectionStart)
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 126
            self.match(DataQualityDefinitionLanguageParser.T__1)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class RulesSectionStartContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser


        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_rulesSectionStart




    def rulesSectionStart(self):

        localctx = DataQualityDefinitionLanguageParser.RulesSectionStartContext(self, self._ctx, self.state)
        self.enterRule(localctx, 4, self.RULE_rulesSectionStart)
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 128
            self.match(DataQualityDefinitionLanguageParser.T__2)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class AnalyzersSectionStartContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser


        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_analyzersSectionStart




    def analyzersSectionStart(self):

        localctx = DataQualityDefinitionLanguageParser.AnalyzersSectionStartContext(self, self._ctx, self.state)
        self.enterRule(localctx, 6, self.RULE_analyzersSectionStart)
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 130
            self.match(DataQualityDefinitionLanguageParser.T__3)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class DateNowContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser


        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_dateNow




    def dateNow(self):

        localctx = DataQualityDefinitionLanguageParser.DateNowContext(self, self._ctx, self.state)
        self.enterRule(localctx, 8, self.RULE_dateNow)
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 132
            self.match(DataQualityDefinitionLanguageParser.T__4)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class DurationUnitContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser


        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_durationUnit




    def durationUnit(self):

        localctx = DataQualityDefinitionLanguageParser.DurationUnitContext(self, self._ctx, self.state)
        self.enterRule(localctx, 10, self.RULE_durationUnit)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 134
            _la = self._input.LA(1)
            if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 448) != 0)):
                self._errHandler.recoverInline(self)
            else:
                self._errHandler.reportMatch(self)
                self.consume()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class DurationExpressionContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def durationUnit(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.DurationUnitContext,0)


        def DIGIT(self):
            return self.getToken(DataQualityDefinitionLanguageParser.DIGIT, 0)

        def INT(self):
            return self.getToken(DataQualityDefinitionLanguageParser.INT, 0)

        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_durationExpression




    def durationExpression(self):

        localctx = DataQualityDefinitionLanguageParser.DurationExpressionContext(self, self._ctx, self.state)
        self.enterRule(localctx, 12, self.RULE_durationExpression)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 136
            _la = self._input.LA(1)
            if not(_la==48 or _la==52):
                self._errHandler.recoverInline(self)
            else:
                self._errHandler.reportMatch(self)
                self.consume()
            self.state = 137
            self.durationUnit()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class SizeUnitContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser


        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_sizeUnit




    def sizeUnit(self):

        localctx = DataQualityDefinitionLanguageParser.SizeUnitContext(self, self._ctx, self.state)
        self.enterRule(localctx, 14, self.RULE_sizeUnit)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 139
            _la = self._input.LA(1)
            if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 15872) != 0)):
                self._errHandler.recoverInline(self)
            else:
                self._errHandler.reportMatch(self)
                self.consume()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class SizeExpressionContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def sizeUnit(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.SizeUnitContext,0)


        def DIGIT(self):
            return self.getToken(DataQualityDefinitionLanguageParser.DIGIT, 0)

        def INT(self):
            return self.getToken(DataQualityDefinitionLanguageParser.INT, 0)

        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_sizeExpression




    def sizeExpression(self):

        localctx = DataQualityDefinitionLanguageParser.SizeExpressionContext(self, self._ctx, self.state)
        self.enterRule(localctx, 16, self.RULE_sizeExpression)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 141
            _la = self._input.LA(1)
            if not(_la==48 or _la==52):
                self._errHandler.recoverInline(self)
            else:
                self._errHandler.reportMatch(self)
                self.consume()
            self.state = 142
            self.sizeUnit()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class TimeExpressionContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def TIME(self):
            return self.getToken(DataQualityDefinitionLanguageParser.TIME, 0)

        def MIL_TIME(self):
            return self.getToken(DataQualityDefinitionLanguageParser.MIL_TIME, 0)

        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_timeExpression




    def timeExpression(self):

        localctx = DataQualityDefinitionLanguageParser.TimeExpressionContext(self, self._ctx, self.state)
        self.enterRule(localctx, 18, self.RULE_timeExpression)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 144
            _la = self._input.LA(1)
            if not(_la==50 or _la==51):
                self._errHandler.recoverInline(self)
            else:
                self._errHandler.reportMatch(self)
                self.consume()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class DateExpressionOpContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def NEGATIVE(self):
            return self.getToken(DataQualityDefinitionLanguageParser.NEGATIVE, 0)

        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_dateExpressionOp




    def dateExpressionOp(self):

        localctx = DataQualityDefinitionLanguageParser.DateExpressionOpContext(self, self._ctx, self.state)
        self.enterRule(localctx, 20, self.RULE_dateExpressionOp)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 146
            _la = self._input.LA(1)
            if not(_la==14 or _la==55):
                self._errHandler.recoverInline(self)
            else:
                self._errHandler.reportMatch(self)
                self.consume()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class DateExpressionContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def DATE(self):
            return self.getToken(DataQualityDefinitionLanguageParser.DATE, 0)

        def dateNow(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.DateNowContext,0)


        def LPAREN(self):
            return self.getToken(DataQualityDefinitionLanguageParser.LPAREN, 0)

        def dateExpressionOp(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.DateExpressionOpContext,0)


        def durationExpression(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.DurationExpressionContext,0)


        def RPAREN(self):
            return self.getToken(DataQualityDefinitionLanguageParser.RPAREN, 0)

        def timeExpression(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.TimeExpressionContext,0)


        def NULL(self):
            return self.getToken(DataQualityDefinitionLanguageParser.NULL, 0)

        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_dateExpression




    def dateExpression(self):

        localctx = DataQualityDefinitionLanguageParser.DateExpressionContext(self, self._ctx, self.state)
        self.enterRule(localctx, 22, self.RULE_dateExpression)
        try:
            self.state = 158
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [49]:
                self.enterOuterAlt(localctx, 1)
                self.state = 148
                self.match(DataQualityDefinitionLanguageParser.DATE)
                pass
            elif token in [5]:
                self.enterOuterAlt(localctx, 2)
                self.state = 149
                self.dateNow()
                pass
            elif token in [31]:
                self.enterOuterAlt(localctx, 3)
                self.state = 150
                self.match(DataQualityDefinitionLanguageParser.LPAREN)
                self.state = 151
                self.dateNow()
                self.state = 152
                self.dateExpressionOp()
                self.state = 153
                self.durationExpression()
                self.state = 154
                self.match(DataQualityDefinitionLanguageParser.RPAREN)
                pass
            elif token in [50, 51]:
                self.enterOuterAlt(localctx, 4)
                self.state = 156
                self.timeExpression()
                pass
            elif token in [36]:
                self.enterOuterAlt(localctx, 5)
                self.state = 157
                self.match(DataQualityDefinitionLanguageParser.NULL)
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class AtomicNumberContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def DIGIT(self):
            return self.getToken(DataQualityDefinitionLanguageParser.DIGIT, 0)

        def NEGATIVE(self):
            return self.getToken(DataQualityDefinitionLanguageParser.NEGATIVE, 0)

        def INT(self):
            return self.getToken(DataQualityDefinitionLanguageParser.INT, 0)

        def DECIMAL(self):
            return self.getToken(DataQualityDefinitionLanguageParser.DECIMAL, 0)

        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_atomicNumber




    def atomicNumber(self):

        localctx = DataQualityDefinitionLanguageParser.AtomicNumberContext(self, self._ctx, self.state)
        self.enterRule(localctx, 24, self.RULE_atomicNumber)
        try:
            self.state = 169
            self._errHandler.sync(self)
            la_ = self._interp.adaptivePredict(self._input,1,self._ctx)
            if la_ == 1:
                self.enterOuterAlt(localctx, 1)
                self.state = 160
                self.match(DataQualityDefinitionLanguageParser.DIGIT)
                pass

            elif la_ == 2:
                self.enterOuterAlt(localctx, 2)
                self.state = 161
                self.match(DataQualityDefinitionLanguageParser.NEGATIVE)
                self.state = 162
                self.match(DataQualityDefinitionLanguageParser.DIGIT)
                pass

            elif la_ == 3:
                self.enterOuterAlt(localctx, 3)
                self.state = 163
                self.match(DataQualityDefinitionLanguageParser.INT)
                pass

            elif la_ == 4:
                self.enterOuterAlt(localctx, 4)
                self.state = 164
                self.match(DataQualityDefinitionLanguageParser.NEGATIVE)
                self.state = 165
                self.match(DataQualityDefinitionLanguageParser.INT)
                pass

            elif la_ == 5:
                self.enterOuterAlt(localctx, 5)
                self.state = 166
                self.match(DataQualityDefinitionLanguageParser.DECIMAL)
                pass

            elif la_ == 6:
                self.enterOuterAlt(localctx, 6)
                self.state = 167
                self.match(DataQualityDefinitionLanguageParser.NEGATIVE)
                self.state = 168
                self.match(DataQualityDefinitionLanguageParser.DECIMAL)
                pass


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class FunctionParametersContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def number(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(DataQualityDefinitionLanguageParser.NumberContext)
            else:
                return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.NumberContext,i)


        def COMMA(self, i:int=None):
            if i is None:
                return self.getTokens(DataQualityDefinitionLanguageParser.COMMA)
            else:
                return self.getToken(DataQualityDefinitionLanguageParser.COMMA, i)

        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_functionParameters




    def functionParameters(self):

        localctx = DataQualityDefinitionLanguageParser.FunctionParametersContext(self, self._ctx, self.state)
        self.enterRule(localctx, 26, self.RULE_functionParameters)
        self._la = 0 # Token type
        try:
            self.state = 180
            self._errHandler.sync(self)
            la_ = self._interp.adaptivePredict(self._input,3,self._ctx)
            if la_ == 1:
                self.enterOuterAlt(localctx, 1)
                self.state = 171
                self.number(0)
                pass

            elif la_ == 2:
                self.enterOuterAlt(localctx, 2)
                self.state = 172
                self.number(0)
                self.state = 177
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==24:
                    self.state = 173
                    self.match(DataQualityDefinitionLanguageParser.COMMA)
                    self.state = 174
                    self.number(0)
                    self.state = 179
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                pass


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class FunctionCallContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def IDENTIFIER(self):
            return self.getToken(DataQualityDefinitionLanguageParser.IDENTIFIER, 0)

        def LPAREN(self):
            return self.getToken(DataQualityDefinitionLanguageParser.LPAREN, 0)

        def RPAREN(self):
            return self.getToken(DataQualityDefinitionLanguageParser.RPAREN, 0)

        def functionParameters(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.FunctionParametersContext,0)


        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_functionCall




    def functionCall(self):

        localctx = DataQualityDefinitionLanguageParser.FunctionCallContext(self, self._ctx, self.state)
        self.enterRule(localctx, 28, self.RULE_functionCall)
        try:
            self.state = 190
            self._errHandler.sync(self)
            la_ = self._interp.adaptivePredict(self._input,4,self._ctx)
            if la_ == 1:
                self.enterOuterAlt(localctx, 1)
                self.state = 182
                self.match(DataQualityDefinitionLanguageParser.IDENTIFIER)
                self.state = 183
                self.match(DataQualityDefinitionLanguageParser.LPAREN)
                self.state = 184
                self.match(DataQualityDefinitionLanguageParser.RPAREN)
                pass

            elif la_ == 2:
                self.enterOuterAlt(localctx, 2)
                self.state = 185
                self.match(DataQualityDefinitionLanguageParser.IDENTIFIER)
                self.state = 186
                self.match(DataQualityDefinitionLanguageParser.LPAREN)
                self.state = 187
                self.functionParameters()
                self.state = 188
                self.match(DataQualityDefinitionLanguageParser.RPAREN)
                pass


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class NumberOpContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def NEGATIVE(self):
            return self.getToken(DataQualityDefinitionLanguageParser.NEGATIVE, 0)

        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_numberOp




    def numberOp(self):

        localctx = DataQualityDefinitionLanguageParser.NumberOpContext(self, self._ctx, self.state)
        self.enterRule(localctx, 30, self.RULE_numberOp)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 192
            _la = self._input.LA(1)
            if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 36028797019078656) != 0)):
                self._errHandler.recoverInline(self)
            else:
                self._errHandler.reportMatch(self)
                self.consume()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class NumberContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def functionCall(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.FunctionCallContext,0)


        def LPAREN(self):
            return self.getToken(DataQualityDefinitionLanguageParser.LPAREN, 0)

        def number(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(DataQualityDefinitionLanguageParser.NumberContext)
            else:
                return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.NumberContext,i)


        def RPAREN(self):
            return self.getToken(DataQualityDefinitionLanguageParser.RPAREN, 0)

        def atomicNumber(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.AtomicNumberContext,0)


        def NULL(self):
            return self.getToken(DataQualityDefinitionLanguageParser.NULL, 0)

        def numberOp(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.NumberOpContext,0)


        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_number



    def number(self, _p:int=0):
        _parentctx = self._ctx
        _parentState = self.state
        localctx = DataQualityDefinitionLanguageParser.NumberContext(self, self._ctx, _parentState)
        _prevctx = localctx
        _startState = 32
        self.enterRecursionRule(localctx, 32, self.RULE_number, _p)
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 202
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [57]:
                self.state = 195
                self.functionCall()
                pass
            elif token in [31]:
                self.state = 196
                self.match(DataQualityDefinitionLanguageParser.LPAREN)
                self.state = 197
                self.number(0)
                self.state = 198
                self.match(DataQualityDefinitionLanguageParser.RPAREN)
                pass
            elif token in [48, 52, 53, 55]:
                self.state = 200
                self.atomicNumber()
                pass
            elif token in [36]:
                self.state = 201
                self.match(DataQualityDefinitionLanguageParser.NULL)
                pass
            else:
                raise NoViableAltException(self)

            self._ctx.stop = self._input.LT(-1)
            self.state = 210
            self._errHandler.sync(self)
            _alt = self._interp.adaptivePredict(self._input,6,self._ctx)
            while _alt!=2 and _alt!=ATN.INVALID_ALT_NUMBER:
                if _alt==1:
                    if self._parseListeners is not None:
                        self.triggerExitRuleEvent()
                    _prevctx = localctx
                    localctx = DataQualityDefinitionLanguageParser.NumberContext(self, _parentctx, _parentState)
                    self.pushNewRecursionContext(localctx, _startState, self.RULE_number)
                    self.state = 204
                    if not self.precpred(self._ctx, 5):
                        from antlr4.error.Errors import FailedPredicateException
                        raise FailedPredicateException(self, "self.precpred(self._ctx, 5)")
                    self.state = 205
                    self.numberOp()
                    self.state = 206
                    self.number(6) 
                self.state = 212
                self._errHandler.sync(self)
                _alt = self._interp.adaptivePredict(self._input,6,self._ctx)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.unrollRecursionContexts(_parentctx)
        return localctx


    class QuotedStringContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def QUOTED_STRING(self):
            return self.getToken(DataQualityDefinitionLanguageParser.QUOTED_STRING, 0)

        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_quotedString




    def quotedString(self):

        localctx = DataQualityDefinitionLanguageParser.QuotedStringContext(self, self._ctx, self.state)
        self.enterRule(localctx, 34, self.RULE_quotedString)
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 213
            self.match(DataQualityDefinitionLanguageParser.QUOTED_STRING)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class MatchesRegexConditionContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def quotedString(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.QuotedStringContext,0)


        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_matchesRegexCondition




    def matchesRegexCondition(self):

        localctx = DataQualityDefinitionLanguageParser.MatchesRegexConditionContext(self, self._ctx, self.state)
        self.enterRule(localctx, 36, self.RULE_matchesRegexCondition)
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 215
            self.match(DataQualityDefinitionLanguageParser.T__16)
            self.state = 216
            self.quotedString()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class NumberArrayContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def LBRAC(self):
            return self.getToken(DataQualityDefinitionLanguageParser.LBRAC, 0)

        def number(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(DataQualityDefinitionLanguageParser.NumberContext)
            else:
                return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.NumberContext,i)


        def RBRAC(self):
            return self.getToken(DataQualityDefinitionLanguageParser.RBRAC, 0)

        def COMMA(self, i:int=None):
            if i is None:
                return self.getTokens(DataQualityDefinitionLanguageParser.COMMA)
            else:
                return self.getToken(DataQualityDefinitionLanguageParser.COMMA, i)

        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_numberArray




    def numberArray(self):

        localctx = DataQualityDefinitionLanguageParser.NumberArrayContext(self, self._ctx, self.state)
        self.enterRule(localctx, 38, self.RULE_numberArray)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 218
            self.match(DataQualityDefinitionLanguageParser.LBRAC)
            self.state = 219
            self.number(0)
            self.state = 224
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==24:
                self.state = 220
                self.match(DataQualityDefinitionLanguageParser.COMMA)
                self.state = 221
                self.number(0)
                self.state = 226
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 227
            self.match(DataQualityDefinitionLanguageParser.RBRAC)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class NumberBasedConditionContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def BETWEEN(self):
            return self.getToken(DataQualityDefinitionLanguageParser.BETWEEN, 0)

        def number(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(DataQualityDefinitionLanguageParser.NumberContext)
            else:
                return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.NumberContext,i)


        def AND(self):
            return self.getToken(DataQualityDefinitionLanguageParser.AND, 0)

        def NOT(self):
            return self.getToken(DataQualityDefinitionLanguageParser.NOT, 0)

        def GREATER_THAN(self):
            return self.getToken(DataQualityDefinitionLanguageParser.GREATER_THAN, 0)

        def GREATER_THAN_EQUAL_TO(self):
            return self.getToken(DataQualityDefinitionLanguageParser.GREATER_THAN_EQUAL_TO, 0)

        def LESS_THAN(self):
            return self.getToken(DataQualityDefinitionLanguageParser.LESS_THAN, 0)

        def LESS_THAN_EQUAL_TO(self):
            return self.getToken(DataQualityDefinitionLanguageParser.LESS_THAN_EQUAL_TO, 0)

        def EQUAL_TO(self):
            return self.getToken(DataQualityDefinitionLanguageParser.EQUAL_TO, 0)

        def NEGATION(self):
            return self.getToken(DataQualityDefinitionLanguageParser.NEGATION, 0)

        def IN(self):
            return self.getToken(DataQualityDefinitionLanguageParser.IN, 0)

        def numberArray(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.NumberArrayContext,0)


        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_numberBasedCondition




    def numberBasedCondition(self):

        localctx = DataQualityDefinitionLanguageParser.NumberBasedConditionContext(self, self._ctx, self.state)
        self.enterRule(localctx, 40, self.RULE_numberBasedCondition)
        self._la = 0 # Token type
        try:
            self.state = 255
            self._errHandler.sync(self)
            la_ = self._interp.adaptivePredict(self._input,11,self._ctx)
            if la_ == 1:
                self.enterOuterAlt(localctx, 1)
                self.state = 230
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==46:
                    self.state = 229
                    self.match(DataQualityDefinitionLanguageParser.NOT)


                self.state = 232
                self.match(DataQualityDefinitionLanguageParser.BETWEEN)
                self.state = 233
                self.number(0)
                self.state = 234
                self.match(DataQualityDefinitionLanguageParser.AND)
                self.state = 235
                self.number(0)
                pass

            elif la_ == 2:
                self.enterOuterAlt(localctx, 2)
                self.state = 237
                self.match(DataQualityDefinitionLanguageParser.GREATER_THAN)
                self.state = 238
                self.number(0)
                pass

            elif la_ == 3:
                self.enterOuterAlt(localctx, 3)
                self.state = 239
                self.match(DataQualityDefinitionLanguageParser.GREATER_THAN_EQUAL_TO)
                self.state = 240
                self.number(0)
                pass

            elif la_ == 4:
                self.enterOuterAlt(localctx, 4)
                self.state = 241
                self.match(DataQualityDefinitionLanguageParser.LESS_THAN)
                self.state = 242
                self.number(0)
                pass

            elif la_ == 5:
                self.enterOuterAlt(localctx, 5)
                self.state = 243
                self.match(DataQualityDefinitionLanguageParser.LESS_THAN_EQUAL_TO)
                self.state = 244
                self.number(0)
                pass

            elif la_ == 6:
                self.enterOuterAlt(localctx, 6)
                self.state = 246
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==47:
                    self.state = 245
                    self.match(DataQualityDefinitionLanguageParser.NEGATION)


                self.state = 248
                self.match(DataQualityDefinitionLanguageParser.EQUAL_TO)
                self.state = 249
                self.number(0)
                pass

            elif la_ == 7:
                self.enterOuterAlt(localctx, 7)
                self.state = 251
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==46:
                    self.state = 250
                    self.match(DataQualityDefinitionLanguageParser.NOT)


                self.state = 253
                self.match(DataQualityDefinitionLanguageParser.IN)
                self.state = 254
                self.numberArray()
                pass


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class VariableDereferenceContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def IDENTIFIER(self):
            return self.getToken(DataQualityDefinitionLanguageParser.IDENTIFIER, 0)

        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_variableDereference




    def variableDereference(self):

        localctx = DataQualityDefinitionLanguageParser.VariableDereferenceContext(self, self._ctx, self.state)
        self.enterRule(localctx, 42, self.RULE_variableDereference)
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 257
            self.match(DataQualityDefinitionLanguageParser.T__17)
            self.state = 258
            self.match(DataQualityDefinitionLanguageParser.IDENTIFIER)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class StringValuesContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def quotedString(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.QuotedStringContext,0)


        def variableDereference(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.VariableDereferenceContext,0)


        def NULL(self):
            return self.getToken(DataQualityDefinitionLanguageParser.NULL, 0)

        def EMPTY(self):
            return self.getToken(DataQualityDefinitionLanguageParser.EMPTY, 0)

        def WHITESPACES_ONLY(self):
            return self.getToken(DataQualityDefinitionLanguageParser.WHITESPACES_ONLY, 0)

        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_stringValues




    def stringValues(self):

        localctx = DataQualityDefinitionLanguageParser.StringValuesContext(self, self._ctx, self.state)
        self.enterRule(localctx, 44, self.RULE_stringValues)
        try:
            self.state = 265
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [54]:
                self.enterOuterAlt(localctx, 1)
                self.state = 260
                self.quotedString()
                pass
            elif token in [18]:
                self.enterOuterAlt(localctx, 2)
                self.state = 261
                self.variableDereference()
                pass
            elif token in [36]:
                self.enterOuterAlt(localctx, 3)
                self.state = 262
                self.match(DataQualityDefinitionLanguageParser.NULL)
                pass
            elif token in [37]:
                self.enterOuterAlt(localctx, 4)
                self.state = 263
                self.match(DataQualityDefinitionLanguageParser.EMPTY)
                pass
            elif token in [38]:
                self.enterOuterAlt(localctx, 5)
                self.state = 264
                self.match(DataQualityDefinitionLanguageParser.WHITESPACES_ONLY)
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class StringValuesArrayContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def LBRAC(self):
            return self.getToken(DataQualityDefinitionLanguageParser.LBRAC, 0)

        def stringValues(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(DataQualityDefinitionLanguageParser.StringValuesContext)
            else:
                return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.StringValuesContext,i)


        def RBRAC(self):
            return self.getToken(DataQualityDefinitionLanguageParser.RBRAC, 0)

        def COMMA(self, i:int=None):
            if i is None:
                return self.getTokens(DataQualityDefinitionLanguageParser.COMMA)
            else:
                return self.getToken(DataQualityDefinitionLanguageParser.COMMA, i)

        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_stringValuesArray




    def stringValuesArray(self):

        localctx = DataQualityDefinitionLanguageParser.StringValuesArrayContext(self, self._ctx, self.state)
        self.enterRule(localctx, 46, self.RULE_stringValuesArray)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 267
            self.match(DataQualityDefinitionLanguageParser.LBRAC)
            self.state = 268
            self.stringValues()
            self.state = 273
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==24:
                self.state = 269
                self.match(DataQualityDefinitionLanguageParser.COMMA)
                self.state = 270
                self.stringValues()
                self.state = 275
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 276
            self.match(DataQualityDefinitionLanguageParser.RBRAC)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class StringBasedConditionContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def EQUAL_TO(self):
            return self.getToken(DataQualityDefinitionLanguageParser.EQUAL_TO, 0)

        def stringValues(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.StringValuesContext,0)


        def NEGATION(self):
            return self.getToken(DataQualityDefinitionLanguageParser.NEGATION, 0)

        def IN(self):
            return self.getToken(DataQualityDefinitionLanguageParser.IN, 0)

        def stringValuesArray(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.StringValuesArrayContext,0)


        def NOT(self):
            return self.getToken(DataQualityDefinitionLanguageParser.NOT, 0)

        def variableDereference(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.VariableDereferenceContext,0)


        def matchesRegexCondition(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.MatchesRegexConditionContext,0)


        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_stringBasedCondition




    def stringBasedCondition(self):

        localctx = DataQualityDefinitionLanguageParser.StringBasedConditionContext(self, self._ctx, self.state)
        self.enterRule(localctx, 48, self.RULE_stringBasedCondition)
        self._la = 0 # Token type
        try:
            self.state = 297
            self._errHandler.sync(self)
            la_ = self._interp.adaptivePredict(self._input,18,self._ctx)
            if la_ == 1:
                self.enterOuterAlt(localctx, 1)
                self.state = 279
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==47:
                    self.state = 278
                    self.match(DataQualityDefinitionLanguageParser.NEGATION)


                self.state = 281
                self.match(DataQualityDefinitionLanguageParser.EQUAL_TO)
                self.state = 282
                self.stringValues()
                pass

            elif la_ == 2:
                self.enterOuterAlt(localctx, 2)
                self.state = 284
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==46:
                    self.state = 283
                    self.match(DataQualityDefinitionLanguageParser.NOT)


                self.state = 286
                self.match(DataQualityDefinitionLanguageParser.IN)
                self.state = 287
                self.stringValuesArray()
                pass

            elif la_ == 3:
                self.enterOuterAlt(localctx, 3)
                self.state = 289
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==46:
                    self.state = 288
                    self.match(DataQualityDefinitionLanguageParser.NOT)


                self.state = 291
                self.match(DataQualityDefinitionLanguageParser.IN)
                self.state = 292
                self.variableDereference()
                pass

            elif la_ == 4:
                self.enterOuterAlt(localctx, 4)
                self.state = 294
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==46:
                    self.state = 293
                    self.match(DataQualityDefinitionLanguageParser.NOT)


                self.state = 296
                self.matchesRegexCondition()
                pass


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class TagValuesContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def IDENTIFIER(self):
            return self.getToken(DataQualityDefinitionLanguageParser.IDENTIFIER, 0)

        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_tagValues




    def tagValues(self):

        localctx = DataQualityDefinitionLanguageParser.TagValuesContext(self, self._ctx, self.state)
        self.enterRule(localctx, 50, self.RULE_tagValues)
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 299
            self.match(DataQualityDefinitionLanguageParser.IDENTIFIER)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class DateExpressionArrayContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def LBRAC(self):
            return self.getToken(DataQualityDefinitionLanguageParser.LBRAC, 0)

        def dateExpression(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(DataQualityDefinitionLanguageParser.DateExpressionContext)
            else:
                return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.DateExpressionContext,i)


        def RBRAC(self):
            return self.getToken(DataQualityDefinitionLanguageParser.RBRAC, 0)

        def COMMA(self, i:int=None):
            if i is None:
                return self.getTokens(DataQualityDefinitionLanguageParser.COMMA)
            else:
                return self.getToken(DataQualityDefinitionLanguageParser.COMMA, i)

        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_dateExpressionArray




    def dateExpressionArray(self):

        localctx = DataQualityDefinitionLanguageParser.DateExpressionArrayContext(self, self._ctx, self.state)
        self.enterRule(localctx, 52, self.RULE_dateExpressionArray)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 301
            self.match(DataQualityDefinitionLanguageParser.LBRAC)
            self.state = 302
            self.dateExpression()
            self.state = 307
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==24:
                self.state = 303
                self.match(DataQualityDefinitionLanguageParser.COMMA)
                self.state = 304
                self.dateExpression()
                self.state = 309
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 310
            self.match(DataQualityDefinitionLanguageParser.RBRAC)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class DateBasedConditionContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def BETWEEN(self):
            return self.getToken(DataQualityDefinitionLanguageParser.BETWEEN, 0)

        def dateExpression(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(DataQualityDefinitionLanguageParser.DateExpressionContext)
            else:
                return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.DateExpressionContext,i)


        def AND(self):
            return self.getToken(DataQualityDefinitionLanguageParser.AND, 0)

        def NOT(self):
            return self.getToken(DataQualityDefinitionLanguageParser.NOT, 0)

        def GREATER_THAN(self):
            return self.getToken(DataQualityDefinitionLanguageParser.GREATER_THAN, 0)

        def GREATER_THAN_EQUAL_TO(self):
            return self.getToken(DataQualityDefinitionLanguageParser.GREATER_THAN_EQUAL_TO, 0)

        def LESS_THAN(self):
            return self.getToken(DataQualityDefinitionLanguageParser.LESS_THAN, 0)

        def LESS_THAN_EQUAL_TO(self):
            return self.getToken(DataQualityDefinitionLanguageParser.LESS_THAN_EQUAL_TO, 0)

        def EQUAL_TO(self):
            return self.getToken(DataQualityDefinitionLanguageParser.EQUAL_TO, 0)

        def NEGATION(self):
            return self.getToken(DataQualityDefinitionLanguageParser.NEGATION, 0)

        def IN(self):
            return self.getToken(DataQualityDefinitionLanguageParser.IN, 0)

        def dateExpressionArray(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.DateExpressionArrayContext,0)


        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_dateBasedCondition




    def dateBasedCondition(self):

        localctx = DataQualityDefinitionLanguageParser.DateBasedConditionContext(self, self._ctx, self.state)
        self.enterRule(localctx, 54, self.RULE_dateBasedCondition)
        self._la = 0 # Token type
        try:
            self.state = 338
            self._errHandler.sync(self)
            la_ = self._interp.adaptivePredict(self._input,23,self._ctx)
            if la_ == 1:
                self.enterOuterAlt(localctx, 1)
                self.state = 313
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==46:
                    self.state = 312
                    self.match(DataQualityDefinitionLanguageParser.NOT)


                self.state = 315
                self.match(DataQualityDefinitionLanguageParser.BETWEEN)
                self.state = 316
                self.dateExpression()
                self.state = 317
                self.match(DataQualityDefinitionLanguageParser.AND)
                self.state = 318
                self.dateExpression()
                pass

            elif la_ == 2:
                self.enterOuterAlt(localctx, 2)
                self.state = 320
                self.match(DataQualityDefinitionLanguageParser.GREATER_THAN)
                self.state = 321
                self.dateExpression()
                pass

            elif la_ == 3:
                self.enterOuterAlt(localctx, 3)
                self.state = 322
                self.match(DataQualityDefinitionLanguageParser.GREATER_THAN_EQUAL_TO)
                self.state = 323
                self.dateExpression()
                pass

            elif la_ == 4:
                self.enterOuterAlt(localctx, 4)
                self.state = 324
                self.match(DataQualityDefinitionLanguageParser.LESS_THAN)
                self.state = 325
                self.dateExpression()
                pass

            elif la_ == 5:
                self.enterOuterAlt(localctx, 5)
                self.state = 326
                self.match(DataQualityDefinitionLanguageParser.LESS_THAN_EQUAL_TO)
                self.state = 327
                self.dateExpression()
                pass

            elif la_ == 6:
                self.enterOuterAlt(localctx, 6)
                self.state = 329
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==47:
                    self.state = 328
                    self.match(DataQualityDefinitionLanguageParser.NEGATION)


                self.state = 331
                self.match(DataQualityDefinitionLanguageParser.EQUAL_TO)
                self.state = 332
                self.dateExpression()
                pass

            elif la_ == 7:
                self.enterOuterAlt(localctx, 7)
                self.state = 334
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==46:
                    self.state = 333
                    self.match(DataQualityDefinitionLanguageParser.NOT)


                self.state = 336
                self.match(DataQualityDefinitionLanguageParser.IN)
                self.state = 337
                self.dateExpressionArray()
                pass


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class DurationExpressionArrayContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def LBRAC(self):
            return self.getToken(DataQualityDefinitionLanguageParser.LBRAC, 0)

        def durationExpression(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(DataQualityDefinitionLanguageParser.DurationExpressionContext)
            else:
                return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.DurationExpressionContext,i)


        def RBRAC(self):
            return self.getToken(DataQualityDefinitionLanguageParser.RBRAC, 0)

        def COMMA(self, i:int=None):
            if i is None:
                return self.getTokens(DataQualityDefinitionLanguageParser.COMMA)
            else:
                return self.getToken(DataQualityDefinitionLanguageParser.COMMA, i)

        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_durationExpressionArray




    def durationExpressionArray(self):

        localctx = DataQualityDefinitionLanguageParser.DurationExpressionArrayContext(self, self._ctx, self.state)
        self.enterRule(localctx, 56, self.RULE_durationExpressionArray)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 340
            self.match(DataQualityDefinitionLanguageParser.LBRAC)
            self.state = 341
            self.durationExpression()
            self.state = 346
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==24:
                self.state = 342
                self.match(DataQualityDefinitionLanguageParser.COMMA)
                self.state = 343
                self.durationExpression()
                self.state = 348
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 349
            self.match(DataQualityDefinitionLanguageParser.RBRAC)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class DurationBasedConditionContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def BETWEEN(self):
            return self.getToken(DataQualityDefinitionLanguageParser.BETWEEN, 0)

        def durationExpression(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(DataQualityDefinitionLanguageParser.DurationExpressionContext)
            else:
                return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.DurationExpressionContext,i)


        def AND(self):
            return self.getToken(DataQualityDefinitionLanguageParser.AND, 0)

        def NOT(self):
            return self.getToken(DataQualityDefinitionLanguageParser.NOT, 0)

        def GREATER_THAN(self):
            return self.getToken(DataQualityDefinitionLanguageParser.GREATER_THAN, 0)

        def GREATER_THAN_EQUAL_TO(self):
            return self.getToken(DataQualityDefinitionLanguageParser.GREATER_THAN_EQUAL_TO, 0)

        def LESS_THAN(self):
            return self.getToken(DataQualityDefinitionLanguageParser.LESS_THAN, 0)

        def LESS_THAN_EQUAL_TO(self):
            return self.getToken(DataQualityDefinitionLanguageParser.LESS_THAN_EQUAL_TO, 0)

        def EQUAL_TO(self):
            return self.getToken(DataQualityDefinitionLanguageParser.EQUAL_TO, 0)

        def NEGATION(self):
            return self.getToken(DataQualityDefinitionLanguageParser.NEGATION, 0)

        def IN(self):
            return self.getToken(DataQualityDefinitionLanguageParser.IN, 0)

        def durationExpressionArray(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.DurationExpressionArrayContext,0)


        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_durationBasedCondition




    def durationBasedCondition(self):

        localctx = DataQualityDefinitionLanguageParser.DurationBasedConditionContext(self, self._ctx, self.state)
        self.enterRule(localctx, 58, self.RULE_durationBasedCondition)
        self._la = 0 # Token type
        try:
            self.state = 377
            self._errHandler.sync(self)
            la_ = self._interp.adaptivePredict(self._input,28,self._ctx)
            if la_ == 1:
                self.enterOuterAlt(localctx, 1)
                self.state = 352
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==46:
                    self.state = 351
                    self.match(DataQualityDefinitionLanguageParser.NOT)


                self.state = 354
                self.match(DataQualityDefinitionLanguageParser.BETWEEN)
                self.state = 355
                self.durationExpression()
                self.state = 356
                self.match(DataQualityDefinitionLanguageParser.AND)
                self.state = 357
                self.durationExpression()
                pass

            elif la_ == 2:
                self.enterOuterAlt(localctx, 2)
                self.state = 359
                self.match(DataQualityDefinitionLanguageParser.GREATER_THAN)
                self.state = 360
                self.durationExpression()
                pass

            elif la_ == 3:
                self.enterOuterAlt(localctx, 3)
                self.state = 361
                self.match(DataQualityDefinitionLanguageParser.GREATER_THAN_EQUAL_TO)
                self.state = 362
                self.durationExpression()
                pass

            elif la_ == 4:
                self.enterOuterAlt(localctx, 4)
                self.state = 363
                self.match(DataQualityDefinitionLanguageParser.LESS_THAN)
                self.state = 364
                self.durationExpression()
                pass

            elif la_ == 5:
                self.enterOuterAlt(localctx, 5)
                self.state = 365
                self.match(DataQualityDefinitionLanguageParser.LESS_THAN_EQUAL_TO)
                self.state = 366
                self.durationExpression()
                pass

            elif la_ == 6:
                self.enterOuterAlt(localctx, 6)
                self.state = 368
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==47:
                    self.state = 367
                    self.match(DataQualityDefinitionLanguageParser.NEGATION)


                self.state = 370
                self.match(DataQualityDefinitionLanguageParser.EQUAL_TO)
                self.state = 371
                self.durationExpression()
                pass

            elif la_ == 7:
                self.enterOuterAlt(localctx, 7)
                self.state = 373
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==46:
                    self.state = 372
                    self.match(DataQualityDefinitionLanguageParser.NOT)


                self.state = 375
                self.match(DataQualityDefinitionLanguageParser.IN)
                self.state = 376
                self.durationExpressionArray()
                pass


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class SizeExpressionArrayContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def LBRAC(self):
            return self.getToken(DataQualityDefinitionLanguageParser.LBRAC, 0)

        def sizeExpression(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(DataQualityDefinitionLanguageParser.SizeExpressionContext)
            else:
                return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.SizeExpressionContext,i)


        def RBRAC(self):
            return self.getToken(DataQualityDefinitionLanguageParser.RBRAC, 0)

        def COMMA(self, i:int=None):
            if i is None:
                return self.getTokens(DataQualityDefinitionLanguageParser.COMMA)
            else:
                return self.getToken(DataQualityDefinitionLanguageParser.COMMA, i)

        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_sizeExpressionArray




    def sizeExpressionArray(self):

        localctx = DataQualityDefinitionLanguageParser.SizeExpressionArrayContext(self, self._ctx, self.state)
        self.enterRule(localctx, 60, self.RULE_sizeExpressionArray)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 379
            self.match(DataQualityDefinitionLanguageParser.LBRAC)
            self.state = 380
            self.sizeExpression()
            self.state = 385
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==24:
                self.state = 381
                self.match(DataQualityDefinitionLanguageParser.COMMA)
                self.state = 382
                self.sizeExpression()
                self.state = 387
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 388
            self.match(DataQualityDefinitionLanguageParser.RBRAC)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class SizeBasedConditionContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def BETWEEN(self):
            return self.getToken(DataQualityDefinitionLanguageParser.BETWEEN, 0)

        def sizeExpression(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(DataQualityDefinitionLanguageParser.SizeExpressionContext)
            else:
                return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.SizeExpressionContext,i)


        def AND(self):
            return self.getToken(DataQualityDefinitionLanguageParser.AND, 0)

        def NOT(self):
            return self.getToken(DataQualityDefinitionLanguageParser.NOT, 0)

        def GREATER_THAN(self):
            return self.getToken(DataQualityDefinitionLanguageParser.GREATER_THAN, 0)

        def GREATER_THAN_EQUAL_TO(self):
            return self.getToken(DataQualityDefinitionLanguageParser.GREATER_THAN_EQUAL_TO, 0)

        def LESS_THAN(self):
            return self.getToken(DataQualityDefinitionLanguageParser.LESS_THAN, 0)

        def LESS_THAN_EQUAL_TO(self):
            return self.getToken(DataQualityDefinitionLanguageParser.LESS_THAN_EQUAL_TO, 0)

        def EQUAL_TO(self):
            return self.getToken(DataQualityDefinitionLanguageParser.EQUAL_TO, 0)

        def NEGATION(self):
            return self.getToken(DataQualityDefinitionLanguageParser.NEGATION, 0)

        def IN(self):
            return self.getToken(DataQualityDefinitionLanguageParser.IN, 0)

        def sizeExpressionArray(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.SizeExpressionArrayContext,0)


        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_sizeBasedCondition




    def sizeBasedCondition(self):

        localctx = DataQualityDefinitionLanguageParser.SizeBasedConditionContext(self, self._ctx, self.state)
        self.enterRule(localctx, 62, self.RULE_sizeBasedCondition)
        self._la = 0 # Token type
        try:
            self.state = 416
            self._errHandler.sync(self)
            la_ = self._interp.adaptivePredict(self._input,33,self._ctx)
            if la_ == 1:
                self.enterOuterAlt(localctx, 1)
                self.state = 391
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==46:
                    self.state = 390
                    self.match(DataQualityDefinitionLanguageParser.NOT)


                self.state = 393
                self.match(DataQualityDefinitionLanguageParser.BETWEEN)
                self.state = 394
                self.sizeExpression()
                self.state = 395
                self.match(DataQualityDefinitionLanguageParser.AND)
                self.state = 396
                self.sizeExpression()
                pass

            elif la_ == 2:
                self.enterOuterAlt(localctx, 2)
                self.state = 398
                self.match(DataQualityDefinitionLanguageParser.GREATER_THAN)
                self.state = 399
                self.sizeExpression()
                pass

            elif la_ == 3:
                self.enterOuterAlt(localctx, 3)
                self.state = 400
                self.match(DataQualityDefinitionLanguageParser.GREATER_THAN_EQUAL_TO)
                self.state = 401
                self.sizeExpression()
                pass

            elif la_ == 4:
                self.enterOuterAlt(localctx, 4)
                self.state = 402
                self.match(DataQualityDefinitionLanguageParser.LESS_THAN)
                self.state = 403
                self.sizeExpression()
                pass

            elif la_ == 5:
                self.enterOuterAlt(localctx, 5)
                self.state = 404
                self.match(DataQualityDefinitionLanguageParser.LESS_THAN_EQUAL_TO)
                self.state = 405
                self.sizeExpression()
                pass

            elif la_ == 6:
                self.enterOuterAlt(localctx, 6)
                self.state = 407
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==47:
                    self.state = 406
                    self.match(DataQualityDefinitionLanguageParser.NEGATION)


                self.state = 409
                self.match(DataQualityDefinitionLanguageParser.EQUAL_TO)
                self.state = 410
                self.sizeExpression()
                pass

            elif la_ == 7:
                self.enterOuterAlt(localctx, 7)
                self.state = 412
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==46:
                    self.state = 411
                    self.match(DataQualityDefinitionLanguageParser.NOT)


                self.state = 414
                self.match(DataQualityDefinitionLanguageParser.IN)
                self.state = 415
                self.sizeExpressionArray()
                pass


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class RuleTypeContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def IDENTIFIER(self):
            return self.getToken(DataQualityDefinitionLanguageParser.IDENTIFIER, 0)

        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_ruleType




    def ruleType(self):

        localctx = DataQualityDefinitionLanguageParser.RuleTypeContext(self, self._ctx, self.state)
        self.enterRule(localctx, 64, self.RULE_ruleType)
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 418
            self.match(DataQualityDefinitionLanguageParser.IDENTIFIER)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class AnalyzerTypeContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def IDENTIFIER(self):
            return self.getToken(DataQualityDefinitionLanguageParser.IDENTIFIER, 0)

        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_analyzerType




    def analyzerType(self):

        localctx = DataQualityDefinitionLanguageParser.AnalyzerTypeContext(self, self._ctx, self.state)
        self.enterRule(localctx, 66, self.RULE_analyzerType)
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 420
            self.match(DataQualityDefinitionLanguageParser.IDENTIFIER)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ParameterContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def QUOTED_STRING(self):
            return self.getToken(DataQualityDefinitionLanguageParser.QUOTED_STRING, 0)

        def IDENTIFIER(self):
            return self.getToken(DataQualityDefinitionLanguageParser.IDENTIFIER, 0)

        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_parameter




    def parameter(self):

        localctx = DataQualityDefinitionLanguageParser.ParameterContext(self, self._ctx, self.state)
        self.enterRule(localctx, 68, self.RULE_parameter)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 422
            _la = self._input.LA(1)
            if not(_la==54 or _la==57):
                self._errHandler.recoverInline(self)
            else:
                self._errHandler.reportMatch(self)
                self.consume()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ConnectorWordContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def OF(self):
            return self.getToken(DataQualityDefinitionLanguageParser.OF, 0)

        def AND(self):
            return self.getToken(DataQualityDefinitionLanguageParser.AND, 0)

        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_connectorWord




    def connectorWord(self):

        localctx = DataQualityDefinitionLanguageParser.ConnectorWordContext(self, self._ctx, self.state)
        self.enterRule(localctx, 70, self.RULE_connectorWord)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 424
            _la = self._input.LA(1)
            if not(_la==33 or _la==35):
                self._errHandler.recoverInline(self)
            else:
                self._errHandler.reportMatch(self)
                self.consume()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ParameterWithConnectorWordContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def parameter(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.ParameterContext,0)


        def connectorWord(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.ConnectorWordContext,0)


        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_parameterWithConnectorWord




    def parameterWithConnectorWord(self):

        localctx = DataQualityDefinitionLanguageParser.ParameterWithConnectorWordContext(self, self._ctx, self.state)
        self.enterRule(localctx, 72, self.RULE_parameterWithConnectorWord)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 427
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==33 or _la==35:
                self.state = 426
                self.connectorWord()


            self.state = 429
            self.parameter()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class TagWithConditionContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def tagValues(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.TagValuesContext,0)


        def stringBasedCondition(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.StringBasedConditionContext,0)


        def numberBasedCondition(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.NumberBasedConditionContext,0)


        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_tagWithCondition




    def tagWithCondition(self):

        localctx = DataQualityDefinitionLanguageParser.TagWithConditionContext(self, self._ctx, self.state)
        self.enterRule(localctx, 74, self.RULE_tagWithCondition)
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 431
            self.match(DataQualityDefinitionLanguageParser.T__18)
            self.state = 432
            self.tagValues()
            self.state = 435
            self._errHandler.sync(self)
            la_ = self._interp.adaptivePredict(self._input,35,self._ctx)
            if la_ == 1:
                self.state = 433
                self.stringBasedCondition()
                pass

            elif la_ == 2:
                self.state = 434
                self.numberBasedCondition()
                pass


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ConditionContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def numberBasedCondition(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.NumberBasedConditionContext,0)


        def stringBasedCondition(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.StringBasedConditionContext,0)


        def dateBasedCondition(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.DateBasedConditionContext,0)


        def durationBasedCondition(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.DurationBasedConditionContext,0)


        def sizeBasedCondition(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.SizeBasedConditionContext,0)


        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_condition




    def condition(self):

        localctx = DataQualityDefinitionLanguageParser.ConditionContext(self, self._ctx, self.state)
        self.enterRule(localctx, 76, self.RULE_condition)
        try:
            self.state = 442
            self._errHandler.sync(self)
            la_ = self._interp.adaptivePredict(self._input,36,self._ctx)
            if la_ == 1:
                self.enterOuterAlt(localctx, 1)
                self.state = 437
                self.numberBasedCondition()
                pass

            elif la_ == 2:
                self.enterOuterAlt(localctx, 2)
                self.state = 438
                self.stringBasedCondition()
                pass

            elif la_ == 3:
                self.enterOuterAlt(localctx, 3)
                self.state = 439
                self.dateBasedCondition()
                pass

            elif la_ == 4:
                self.enterOuterAlt(localctx, 4)
                self.state = 440
                self.durationBasedCondition()
                pass

            elif la_ == 5:
                self.enterOuterAlt(localctx, 5)
                self.state = 441
                self.sizeBasedCondition()
                pass


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class WhereClauseContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def quotedString(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.QuotedStringContext,0)


        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_whereClause




    def whereClause(self):

        localctx = DataQualityDefinitionLanguageParser.WhereClauseContext(self, self._ctx, self.state)
        self.enterRule(localctx, 78, self.RULE_whereClause)
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 444
            self.match(DataQualityDefinitionLanguageParser.T__19)
            self.state = 445
            self.quotedString()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class DqRuleContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def ruleType(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.RuleTypeContext,0)


        def parameterWithConnectorWord(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(DataQualityDefinitionLanguageParser.ParameterWithConnectorWordContext)
            else:
                return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.ParameterWithConnectorWordContext,i)


        def condition(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.ConditionContext,0)


        def whereClause(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.WhereClauseContext,0)


        def labels(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(DataQualityDefinitionLanguageParser.LabelsContext)
            else:
                return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.LabelsContext,i)


        def tagWithCondition(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(DataQualityDefinitionLanguageParser.TagWithConditionContext)
            else:
                return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.TagWithConditionContext,i)


        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_dqRule




    def dqRule(self):

        localctx = DataQualityDefinitionLanguageParser.DqRuleContext(self, self._ctx, self.state)
        self.enterRule(localctx, 80, self.RULE_dqRule)
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 447
            self.ruleType()
            self.state = 451
            self._errHandler.sync(self)
            _alt = self._interp.adaptivePredict(self._input,37,self._ctx)
            while _alt!=2 and _alt!=ATN.INVALID_ALT_NUMBER:
                if _alt==1:
                    self.state = 448
                    self.parameterWithConnectorWord() 
                self.state = 453
                self._errHandler.sync(self)
                _alt = self._interp.adaptivePredict(self._input,37,self._ctx)

            self.state = 455
            self._errHandler.sync(self)
            la_ = self._interp.adaptivePredict(self._input,38,self._ctx)
            if la_ == 1:
                self.state = 454
                self.condition()


            self.state = 458
            self._errHandler.sync(self)
            la_ = self._interp.adaptivePredict(self._input,39,self._ctx)
            if la_ == 1:
                self.state = 457
                self.whereClause()


            self.state = 461
            self._errHandler.sync(self)
            la_ = self._interp.adaptivePredict(self._input,40,self._ctx)
            if la_ == 1:
                self.state = 460
                self.labels()


            self.state = 466
            self._errHandler.sync(self)
            _alt = self._interp.adaptivePredict(self._input,41,self._ctx)
            while _alt!=2 and _alt!=ATN.INVALID_ALT_NUMBER:
                if _alt==1:
                    self.state = 463
                    self.tagWithCondition() 
                self.state = 468
                self._errHandler.sync(self)
                _alt = self._interp.adaptivePredict(self._input,41,self._ctx)

            self.state = 470
            self._errHandler.sync(self)
            la_ = self._interp.adaptivePredict(self._input,42,self._ctx)
            if la_ == 1:
                self.state = 469
                self.labels()


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class DqAnalyzerContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def analyzerType(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.AnalyzerTypeContext,0)


        def parameterWithConnectorWord(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(DataQualityDefinitionLanguageParser.ParameterWithConnectorWordContext)
            else:
                return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.ParameterWithConnectorWordContext,i)


        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_dqAnalyzer




    def dqAnalyzer(self):

        localctx = DataQualityDefinitionLanguageParser.DqAnalyzerContext(self, self._ctx, self.state)
        self.enterRule(localctx, 82, self.RULE_dqAnalyzer)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 472
            self.analyzerType()
            self.state = 476
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 162129629535010816) != 0):
                self.state = 473
                self.parameterWithConnectorWord()
                self.state = 478
                self._errHandler.sync(self)
                _la = self._input.LA(1)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ExpressionContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def stringValues(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.StringValuesContext,0)


        def stringValuesArray(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.StringValuesArrayContext,0)


        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_expression




    def expression(self):

        localctx = DataQualityDefinitionLanguageParser.ExpressionContext(self, self._ctx, self.state)
        self.enterRule(localctx, 84, self.RULE_expression)
        try:
            self.state = 481
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [18, 36, 37, 38, 54]:
                self.enterOuterAlt(localctx, 1)
                self.state = 479
                self.stringValues()
                pass
            elif token in [29]:
                self.enterOuterAlt(localctx, 2)
                self.state = 480
                self.stringValuesArray()
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class VariableDeclarationContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def IDENTIFIER(self):
            return self.getToken(DataQualityDefinitionLanguageParser.IDENTIFIER, 0)

        def EQUAL_TO(self):
            return self.getToken(DataQualityDefinitionLanguageParser.EQUAL_TO, 0)

        def expression(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.ExpressionContext,0)


        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_variableDeclaration




    def variableDeclaration(self):

        localctx = DataQualityDefinitionLanguageParser.VariableDeclarationContext(self, self._ctx, self.state)
        self.enterRule(localctx, 86, self.RULE_variableDeclaration)
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 483
            self.match(DataQualityDefinitionLanguageParser.IDENTIFIER)
            self.state = 484
            self.match(DataQualityDefinitionLanguageParser.EQUAL_TO)
            self.state = 485
            self.expression()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class VariableDeclarationsContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def variableDeclaration(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(DataQualityDefinitionLanguageParser.VariableDeclarationContext)
            else:
                return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.VariableDeclarationContext,i)


        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_variableDeclarations




    def variableDeclarations(self):

        localctx = DataQualityDefinitionLanguageParser.VariableDeclarationsContext(self, self._ctx, self.state)
        self.enterRule(localctx, 88, self.RULE_variableDeclarations)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 490
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==57:
                self.state = 487
                self.variableDeclaration()
                self.state = 492
                self._errHandler.sync(self)
                _la = self._input.LA(1)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class TopLevelRuleContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def LPAREN(self):
            return self.getToken(DataQualityDefinitionLanguageParser.LPAREN, 0)

        def topLevelRule(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(DataQualityDefinitionLanguageParser.TopLevelRuleContext)
            else:
                return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.TopLevelRuleContext,i)


        def RPAREN(self):
            return self.getToken(DataQualityDefinitionLanguageParser.RPAREN, 0)

        def labels(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.LabelsContext,0)


        def dqRule(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.DqRuleContext,0)


        def AND(self):
            return self.getToken(DataQualityDefinitionLanguageParser.AND, 0)

        def OR(self):
            return self.getToken(DataQualityDefinitionLanguageParser.OR, 0)

        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_topLevelRule



    def topLevelRule(self, _p:int=0):
        _parentctx = self._ctx
        _parentState = self.state
        localctx = DataQualityDefinitionLanguageParser.TopLevelRuleContext(self, self._ctx, _parentState)
        _prevctx = localctx
        _startState = 90
        self.enterRecursionRule(localctx, 90, self.RULE_topLevelRule, _p)
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 501
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [31]:
                self.state = 494
                self.match(DataQualityDefinitionLanguageParser.LPAREN)
                self.state = 495
                self.topLevelRule(0)
                self.state = 496
                self.match(DataQualityDefinitionLanguageParser.RPAREN)
                self.state = 498
                self._errHandler.sync(self)
                la_ = self._interp.adaptivePredict(self._input,46,self._ctx)
                if la_ == 1:
                    self.state = 497
                    self.labels()


                pass
            elif token in [57]:
                self.state = 500
                self.dqRule()
                pass
            else:
                raise NoViableAltException(self)

            self._ctx.stop = self._input.LT(-1)
            self.state = 511
            self._errHandler.sync(self)
            _alt = self._interp.adaptivePredict(self._input,49,self._ctx)
            while _alt!=2 and _alt!=ATN.INVALID_ALT_NUMBER:
                if _alt==1:
                    if self._parseListeners is not None:
                        self.triggerExitRuleEvent()
                    _prevctx = localctx
                    self.state = 509
                    self._errHandler.sync(self)
                    la_ = self._interp.adaptivePredict(self._input,48,self._ctx)
                    if la_ == 1:
                        localctx = DataQualityDefinitionLanguageParser.TopLevelRuleContext(self, _parentctx, _parentState)
                        self.pushNewRecursionContext(localctx, _startState, self.RULE_topLevelRule)
                        self.state = 503
                        if not self.precpred(self._ctx, 3):
                            from antlr4.error.Errors import FailedPredicateException
                            raise FailedPredicateException(self, "self.precpred(self._ctx, 3)")
                        self.state = 504
                        self.match(DataQualityDefinitionLanguageParser.AND)
                        self.state = 505
                        self.topLevelRule(4)
                        pass

                    elif la_ == 2:
                        localctx = DataQualityDefinitionLanguageParser.TopLevelRuleContext(self, _parentctx, _parentState)
                        self.pushNewRecursionContext(localctx, _startState, self.RULE_topLevelRule)
                        self.state = 506
                        if not self.precpred(self._ctx, 2):
                            from antlr4.error.Errors import FailedPredicateException
                            raise FailedPredicateException(self, "self.precpred(self._ctx, 2)")
                        self.state = 507
                        self.match(DataQualityDefinitionLanguageParser.OR)
                        self.state = 508
                        self.topLevelRule(3)
                        pass

             
                self.state = 513
                self._errHandler.sync(self)
                _alt = self._interp.adaptivePredict(self._input,49,self._ctx)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.unrollRecursionContexts(_parentctx)
        return localctx


    class DqRulesContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def topLevelRule(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(DataQualityDefinitionLanguageParser.TopLevelRuleContext)
            else:
                return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.TopLevelRuleContext,i)


        def COMMA(self, i:int=None):
            if i is None:
                return self.getTokens(DataQualityDefinitionLanguageParser.COMMA)
            else:
                return self.getToken(DataQualityDefinitionLanguageParser.COMMA, i)

        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_dqRules




    def dqRules(self):

        localctx = DataQualityDefinitionLanguageParser.DqRulesContext(self, self._ctx, self.state)
        self.enterRule(localctx, 92, self.RULE_dqRules)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 514
            self.topLevelRule(0)
            self.state = 519
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==24:
                self.state = 515
                self.match(DataQualityDefinitionLanguageParser.COMMA)
                self.state = 516
                self.topLevelRule(0)
                self.state = 521
                self._errHandler.sync(self)
                _la = self._input.LA(1)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class DqAnalyzersContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def dqAnalyzer(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(DataQualityDefinitionLanguageParser.DqAnalyzerContext)
            else:
                return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.DqAnalyzerContext,i)


        def COMMA(self, i:int=None):
            if i is None:
                return self.getTokens(DataQualityDefinitionLanguageParser.COMMA)
            else:
                return self.getToken(DataQualityDefinitionLanguageParser.COMMA, i)

        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_dqAnalyzers




    def dqAnalyzers(self):

        localctx = DataQualityDefinitionLanguageParser.DqAnalyzersContext(self, self._ctx, self.state)
        self.enterRule(localctx, 94, self.RULE_dqAnalyzers)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 522
            self.dqAnalyzer()
            self.state = 527
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==24:
                self.state = 523
                self.match(DataQualityDefinitionLanguageParser.COMMA)
                self.state = 524
                self.dqAnalyzer()
                self.state = 529
                self._errHandler.sync(self)
                _la = self._input.LA(1)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class RulesContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def rulesSectionStart(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.RulesSectionStartContext,0)


        def EQUAL_TO(self):
            return self.getToken(DataQualityDefinitionLanguageParser.EQUAL_TO, 0)

        def LBRAC(self):
            return self.getToken(DataQualityDefinitionLanguageParser.LBRAC, 0)

        def dqRules(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.DqRulesContext,0)


        def RBRAC(self):
            return self.getToken(DataQualityDefinitionLanguageParser.RBRAC, 0)

        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_rules




    def rules(self):

        localctx = DataQualityDefinitionLanguageParser.RulesContext(self, self._ctx, self.state)
        self.enterRule(localctx, 96, self.RULE_rules)
        try:
            self.state = 541
            self._errHandler.sync(self)
            la_ = self._interp.adaptivePredict(self._input,52,self._ctx)
            if la_ == 1:
                self.enterOuterAlt(localctx, 1)
                self.state = 530
                self.rulesSectionStart()
                self.state = 531
                self.match(DataQualityDefinitionLanguageParser.EQUAL_TO)
                self.state = 532
                self.match(DataQualityDefinitionLanguageParser.LBRAC)
                self.state = 533
                self.dqRules()
                self.state = 534
                self.match(DataQualityDefinitionLanguageParser.RBRAC)
                pass

            elif la_ == 2:
                self.enterOuterAlt(localctx, 2)
                self.state = 536
                self.rulesSectionStart()
                self.state = 537
                self.match(DataQualityDefinitionLanguageParser.EQUAL_TO)
                self.state = 538
                self.match(DataQualityDefinitionLanguageParser.LBRAC)
                self.state = 539
                self.match(DataQualityDefinitionLanguageParser.RBRAC)
                pass


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class AnalyzersContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def analyzersSectionStart(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.AnalyzersSectionStartContext,0)


        def EQUAL_TO(self):
            return self.getToken(DataQualityDefinitionLanguageParser.EQUAL_TO, 0)

        def LBRAC(self):
            return self.getToken(DataQualityDefinitionLanguageParser.LBRAC, 0)

        def dqAnalyzers(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.DqAnalyzersContext,0)


        def RBRAC(self):
            return self.getToken(DataQualityDefinitionLanguageParser.RBRAC, 0)

        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_analyzers




    def analyzers(self):

        localctx = DataQualityDefinitionLanguageParser.AnalyzersContext(self, self._ctx, self.state)
        self.enterRule(localctx, 98, self.RULE_analyzers)
        try:
            self.state = 554
            self._errHandler.sync(self)
            la_ = self._interp.adaptivePredict(self._input,53,self._ctx)
            if la_ == 1:
                self.enterOuterAlt(localctx, 1)
                self.state = 543
                self.analyzersSectionStart()
                self.state = 544
                self.match(DataQualityDefinitionLanguageParser.EQUAL_TO)
                self.state = 545
                self.match(DataQualityDefinitionLanguageParser.LBRAC)
                self.state = 546
                self.dqAnalyzers()
                self.state = 547
                self.match(DataQualityDefinitionLanguageParser.RBRAC)
                pass

            elif la_ == 2:
                self.enterOuterAlt(localctx, 2)
                self.state = 549
                self.analyzersSectionStart()
                self.state = 550
                self.match(DataQualityDefinitionLanguageParser.EQUAL_TO)
                self.state = 551
                self.match(DataQualityDefinitionLanguageParser.LBRAC)
                self.state = 552
                self.match(DataQualityDefinitionLanguageParser.RBRAC)
                pass


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class DictionaryContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def LCURL(self):
            return self.getToken(DataQualityDefinitionLanguageParser.LCURL, 0)

        def pair(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(DataQualityDefinitionLanguageParser.PairContext)
            else:
                return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.PairContext,i)


        def RCURL(self):
            return self.getToken(DataQualityDefinitionLanguageParser.RCURL, 0)

        def COMMA(self, i:int=None):
            if i is None:
                return self.getTokens(DataQualityDefinitionLanguageParser.COMMA)
            else:
                return self.getToken(DataQualityDefinitionLanguageParser.COMMA, i)

        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_dictionary




    def dictionary(self):

        localctx = DataQualityDefinitionLanguageParser.DictionaryContext(self, self._ctx, self.state)
        self.enterRule(localctx, 100, self.RULE_dictionary)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 556
            self.match(DataQualityDefinitionLanguageParser.LCURL)
            self.state = 557
            self.pair()
            self.state = 562
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==24:
                self.state = 558
                self.match(DataQualityDefinitionLanguageParser.COMMA)
                self.state = 559
                self.pair()
                self.state = 564
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 565
            self.match(DataQualityDefinitionLanguageParser.RCURL)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class PairContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def QUOTED_STRING(self):
            return self.getToken(DataQualityDefinitionLanguageParser.QUOTED_STRING, 0)

        def COLON(self):
            return self.getToken(DataQualityDefinitionLanguageParser.COLON, 0)

        def pairValue(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.PairValueContext,0)


        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_pair




    def pair(self):

        localctx = DataQualityDefinitionLanguageParser.PairContext(self, self._ctx, self.state)
        self.enterRule(localctx, 102, self.RULE_pair)
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 567
            self.match(DataQualityDefinitionLanguageParser.QUOTED_STRING)
            self.state = 568
            self.match(DataQualityDefinitionLanguageParser.COLON)
            self.state = 569
            self.pairValue()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class PairValueContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def QUOTED_STRING(self):
            return self.getToken(DataQualityDefinitionLanguageParser.QUOTED_STRING, 0)

        def array(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.ArrayContext,0)


        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_pairValue




    def pairValue(self):

        localctx = DataQualityDefinitionLanguageParser.PairValueContext(self, self._ctx, self.state)
        self.enterRule(localctx, 104, self.RULE_pairValue)
        try:
            self.state = 573
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [54]:
                self.enterOuterAlt(localctx, 1)
                self.state = 571
                self.match(DataQualityDefinitionLanguageParser.QUOTED_STRING)
                pass
            elif token in [29]:
                self.enterOuterAlt(localctx, 2)
                self.state = 572
                self.array()
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ArrayContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def LBRAC(self):
            return self.getToken(DataQualityDefinitionLanguageParser.LBRAC, 0)

        def QUOTED_STRING(self, i:int=None):
            if i is None:
                return self.getTokens(DataQualityDefinitionLanguageParser.QUOTED_STRING)
            else:
                return self.getToken(DataQualityDefinitionLanguageParser.QUOTED_STRING, i)

        def RBRAC(self):
            return self.getToken(DataQualityDefinitionLanguageParser.RBRAC, 0)

        def COMMA(self, i:int=None):
            if i is None:
                return self.getTokens(DataQualityDefinitionLanguageParser.COMMA)
            else:
                return self.getToken(DataQualityDefinitionLanguageParser.COMMA, i)

        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_array




    def array(self):

        localctx = DataQualityDefinitionLanguageParser.ArrayContext(self, self._ctx, self.state)
        self.enterRule(localctx, 106, self.RULE_array)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 575
            self.match(DataQualityDefinitionLanguageParser.LBRAC)
            self.state = 576
            self.match(DataQualityDefinitionLanguageParser.QUOTED_STRING)
            self.state = 581
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==24:
                self.state = 577
                self.match(DataQualityDefinitionLanguageParser.COMMA)
                self.state = 578
                self.match(DataQualityDefinitionLanguageParser.QUOTED_STRING)
                self.state = 583
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 584
            self.match(DataQualityDefinitionLanguageParser.RBRAC)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class MetadataContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def metadataSectionStart(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.MetadataSectionStartContext,0)


        def EQUAL_TO(self):
            return self.getToken(DataQualityDefinitionLanguageParser.EQUAL_TO, 0)

        def dictionary(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.DictionaryContext,0)


        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_metadata




    def metadata(self):

        localctx = DataQualityDefinitionLanguageParser.MetadataContext(self, self._ctx, self.state)
        self.enterRule(localctx, 108, self.RULE_metadata)
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 586
            self.metadataSectionStart()
            self.state = 587
            self.match(DataQualityDefinitionLanguageParser.EQUAL_TO)
            self.state = 588
            self.dictionary()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class DataSourcesContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def dataSourcesSectionStart(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.DataSourcesSectionStartContext,0)


        def EQUAL_TO(self):
            return self.getToken(DataQualityDefinitionLanguageParser.EQUAL_TO, 0)

        def dictionary(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.DictionaryContext,0)


        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_dataSources




    def dataSources(self):

        localctx = DataQualityDefinitionLanguageParser.DataSourcesContext(self, self._ctx, self.state)
        self.enterRule(localctx, 110, self.RULE_dataSources)
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 590
            self.dataSourcesSectionStart()
            self.state = 591
            self.match(DataQualityDefinitionLanguageParser.EQUAL_TO)
            self.state = 592
            self.dictionary()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class RulesOrAnalyzersContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def rules(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.RulesContext,0)


        def analyzers(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.AnalyzersContext,0)


        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_rulesOrAnalyzers




    def rulesOrAnalyzers(self):

        localctx = DataQualityDefinitionLanguageParser.RulesOrAnalyzersContext(self, self._ctx, self.state)
        self.enterRule(localctx, 112, self.RULE_rulesOrAnalyzers)
        try:
            self.state = 599
            self._errHandler.sync(self)
            la_ = self._interp.adaptivePredict(self._input,57,self._ctx)
            if la_ == 1:
                self.enterOuterAlt(localctx, 1)
                self.state = 594
                self.rules()
                pass

            elif la_ == 2:
                self.enterOuterAlt(localctx, 2)
                self.state = 595
                self.analyzers()
                pass

            elif la_ == 3:
                self.enterOuterAlt(localctx, 3)
                self.state = 596
                self.rules()
                self.state = 597
                self.analyzers()
                pass


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class DocumentContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def rulesOrAnalyzers(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.RulesOrAnalyzersContext,0)


        def metadata(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.MetadataContext,0)


        def dataSources(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.DataSourcesContext,0)


        def variableDeclarations(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.VariableDeclarationsContext,0)


        def defaultLabels(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.DefaultLabelsContext,0)


        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_document




    def document(self):

        localctx = DataQualityDefinitionLanguageParser.DocumentContext(self, self._ctx, self.state)
        self.enterRule(localctx, 114, self.RULE_document)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 602
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==1:
                self.state = 601
                self.metadata()


            self.state = 605
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==2:
                self.state = 604
                self.dataSources()


            self.state = 608
            self._errHandler.sync(self)
            la_ = self._interp.adaptivePredict(self._input,60,self._ctx)
            if la_ == 1:
                self.state = 607
                self.variableDeclarations()


            self.state = 611
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==22:
                self.state = 610
                self.defaultLabels()


            self.state = 613
            self.rulesOrAnalyzers()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class LabelPairContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def quotedString(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(DataQualityDefinitionLanguageParser.QuotedStringContext)
            else:
                return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.QuotedStringContext,i)


        def EQUAL_TO(self):
            return self.getToken(DataQualityDefinitionLanguageParser.EQUAL_TO, 0)

        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_labelPair




    def labelPair(self):

        localctx = DataQualityDefinitionLanguageParser.LabelPairContext(self, self._ctx, self.state)
        self.enterRule(localctx, 116, self.RULE_labelPair)
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 615
            self.quotedString()
            self.state = 616
            self.match(DataQualityDefinitionLanguageParser.EQUAL_TO)
            self.state = 617
            self.quotedString()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class LabelListContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def LBRAC(self):
            return self.getToken(DataQualityDefinitionLanguageParser.LBRAC, 0)

        def RBRAC(self):
            return self.getToken(DataQualityDefinitionLanguageParser.RBRAC, 0)

        def labelPair(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(DataQualityDefinitionLanguageParser.LabelPairContext)
            else:
                return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.LabelPairContext,i)


        def COMMA(self, i:int=None):
            if i is None:
                return self.getTokens(DataQualityDefinitionLanguageParser.COMMA)
            else:
                return self.getToken(DataQualityDefinitionLanguageParser.COMMA, i)

        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_labelList




    def labelList(self):

        localctx = DataQualityDefinitionLanguageParser.LabelListContext(self, self._ctx, self.state)
        self.enterRule(localctx, 118, self.RULE_labelList)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 619
            self.match(DataQualityDefinitionLanguageParser.LBRAC)
            self.state = 628
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==54:
                self.state = 620
                self.labelPair()
                self.state = 625
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==24:
                    self.state = 621
                    self.match(DataQualityDefinitionLanguageParser.COMMA)
                    self.state = 622
                    self.labelPair()
                    self.state = 627
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)



            self.state = 630
            self.match(DataQualityDefinitionLanguageParser.RBRAC)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class LabelsContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def EQUAL_TO(self):
            return self.getToken(DataQualityDefinitionLanguageParser.EQUAL_TO, 0)

        def labelList(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.LabelListContext,0)


        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_labels




    def labels(self):

        localctx = DataQualityDefinitionLanguageParser.LabelsContext(self, self._ctx, self.state)
        self.enterRule(localctx, 120, self.RULE_labels)
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 632
            self.match(DataQualityDefinitionLanguageParser.T__20)
            self.state = 633
            self.match(DataQualityDefinitionLanguageParser.EQUAL_TO)
            self.state = 634
            self.labelList()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class DefaultLabelsContext(ParserRuleContext):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser

        def EQUAL_TO(self):
            return self.getToken(DataQualityDefinitionLanguageParser.EQUAL_TO, 0)

        def labelList(self):
            return self.getTypedRuleContext(DataQualityDefinitionLanguageParser.LabelListContext,0)


        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_defaultLabels




    def defaultLabels(self):

        localctx = DataQualityDefinitionLanguageParser.DefaultLabelsContext(self, self._ctx, self.state)
        self.enterRule(localctx, 122, self.RULE_defaultLabels)
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 636
            self.match(DataQualityDefinitionLanguageParser.T__21)
            self.state = 637
            self.match(DataQualityDefinitionLanguageParser.EQUAL_TO)
            self.state = 638
            self.labelList()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx



    def sempred(self, localctx:RuleContext, ruleIndex:int, predIndex:int):
        if self._predicates == None:
            self._predicates = dict()
        self._predicates[16] = self.number_sempred
        self._predicates[45] = self.topLevelRule_sempred
        pred = self._predicates.get(ruleIndex, None)
        if pred is None:
            raise Exception("No predicate with index:" + str(ruleIndex))
        else:
            return pred(localctx, predIndex)

    def number_sempred(self, localctx:NumberContext, predIndex:int):
            if predIndex == 0:
                return self.precpred(self._ctx, 5)
         

    def topLevelRule_sempred(self, localctx:TopLevelRuleContext, predIndex:int):
            if predIndex == 1:
                return self.precpred(self._ctx, 3)
         

            if predIndex == 2:
                return self.precpred(self._ctx, 2)
         




