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
        4,1,56,597,2,0,7,0,2,1,7,1,2,2,7,2,2,3,7,3,2,4,7,4,2,5,7,5,2,6,7,
        6,2,7,7,7,2,8,7,8,2,9,7,9,2,10,7,10,2,11,7,11,2,12,7,12,2,13,7,13,
        2,14,7,14,2,15,7,15,2,16,7,16,2,17,7,17,2,18,7,18,2,19,7,19,2,20,
        7,20,2,21,7,21,2,22,7,22,2,23,7,23,2,24,7,24,2,25,7,25,2,26,7,26,
        2,27,7,27,2,28,7,28,2,29,7,29,2,30,7,30,2,31,7,31,2,32,7,32,2,33,
        7,33,2,34,7,34,2,35,7,35,2,36,7,36,2,37,7,37,2,38,7,38,2,39,7,39,
        2,40,7,40,2,41,7,41,2,42,7,42,2,43,7,43,2,44,7,44,2,45,7,45,2,46,
        7,46,2,47,7,47,2,48,7,48,2,49,7,49,2,50,7,50,2,51,7,51,2,52,7,52,
        2,53,7,53,2,54,7,54,2,55,7,55,2,56,7,56,2,57,7,57,1,0,1,0,1,1,1,
        1,1,2,1,2,1,3,1,3,1,4,1,4,1,5,1,5,1,6,1,6,1,6,1,7,1,7,1,8,1,8,1,
        8,1,9,1,9,1,10,1,10,1,11,1,11,1,11,1,11,1,11,1,11,1,11,1,11,1,11,
        1,11,3,11,151,8,11,1,12,1,12,1,12,1,12,1,12,1,12,1,12,1,12,1,12,
        3,12,162,8,12,1,13,1,13,1,13,1,13,5,13,168,8,13,10,13,12,13,171,
        9,13,3,13,173,8,13,1,14,1,14,1,14,1,14,1,14,1,14,1,14,1,14,3,14,
        183,8,14,1,15,1,15,1,16,1,16,1,16,1,16,1,16,1,16,1,16,1,16,3,16,
        195,8,16,1,16,1,16,1,16,1,16,5,16,201,8,16,10,16,12,16,204,9,16,
        1,17,1,17,1,18,1,18,1,18,1,19,1,19,1,19,1,19,5,19,215,8,19,10,19,
        12,19,218,9,19,1,19,1,19,1,20,3,20,223,8,20,1,20,1,20,1,20,1,20,
        1,20,1,20,1,20,1,20,1,20,1,20,1,20,1,20,1,20,1,20,3,20,239,8,20,
        1,20,1,20,1,20,3,20,244,8,20,1,20,1,20,3,20,248,8,20,1,21,1,21,1,
        21,1,22,1,22,1,22,1,22,1,22,3,22,258,8,22,1,23,1,23,1,23,1,23,5,
        23,264,8,23,10,23,12,23,267,9,23,1,23,1,23,1,24,3,24,272,8,24,1,
        24,1,24,1,24,3,24,277,8,24,1,24,1,24,1,24,3,24,282,8,24,1,24,1,24,
        1,24,3,24,287,8,24,1,24,3,24,290,8,24,1,25,1,25,1,26,1,26,1,26,1,
        26,5,26,298,8,26,10,26,12,26,301,9,26,1,26,1,26,1,27,3,27,306,8,
        27,1,27,1,27,1,27,1,27,1,27,1,27,1,27,1,27,1,27,1,27,1,27,1,27,1,
        27,1,27,3,27,322,8,27,1,27,1,27,1,27,3,27,327,8,27,1,27,1,27,3,27,
        331,8,27,1,28,1,28,1,28,1,28,5,28,337,8,28,10,28,12,28,340,9,28,
        1,28,1,28,1,29,3,29,345,8,29,1,29,1,29,1,29,1,29,1,29,1,29,1,29,
        1,29,1,29,1,29,1,29,1,29,1,29,1,29,3,29,361,8,29,1,29,1,29,1,29,
        3,29,366,8,29,1,29,1,29,3,29,370,8,29,1,30,1,30,1,30,1,30,5,30,376,
        8,30,10,30,12,30,379,9,30,1,30,1,30,1,31,3,31,384,8,31,1,31,1,31,
        1,31,1,31,1,31,1,31,1,31,1,31,1,31,1,31,1,31,1,31,1,31,1,31,3,31,
        400,8,31,1,31,1,31,1,31,3,31,405,8,31,1,31,1,31,3,31,409,8,31,1,
        32,1,32,1,33,1,33,1,34,1,34,1,35,1,35,1,36,3,36,420,8,36,1,36,1,
        36,1,37,1,37,1,37,1,37,3,37,428,8,37,1,38,1,38,1,38,1,38,1,38,3,
        38,435,8,38,1,39,1,39,1,39,1,40,1,40,5,40,442,8,40,10,40,12,40,445,
        9,40,1,40,3,40,448,8,40,1,40,3,40,451,8,40,1,40,5,40,454,8,40,10,
        40,12,40,457,9,40,1,41,1,41,5,41,461,8,41,10,41,12,41,464,9,41,1,
        42,1,42,3,42,468,8,42,1,43,1,43,1,43,1,43,1,44,5,44,475,8,44,10,
        44,12,44,478,9,44,1,45,1,45,1,45,1,45,1,45,1,45,3,45,486,8,45,1,
        45,1,45,1,45,1,45,1,45,1,45,5,45,494,8,45,10,45,12,45,497,9,45,1,
        46,1,46,1,46,5,46,502,8,46,10,46,12,46,505,9,46,1,47,1,47,1,47,5,
        47,510,8,47,10,47,12,47,513,9,47,1,48,1,48,1,48,1,48,1,48,1,48,1,
        48,1,48,1,48,1,48,1,48,3,48,526,8,48,1,49,1,49,1,49,1,49,1,49,1,
        49,1,49,1,49,1,49,1,49,1,49,3,49,539,8,49,1,50,1,50,1,50,1,50,5,
        50,545,8,50,10,50,12,50,548,9,50,1,50,1,50,1,51,1,51,1,51,1,51,1,
        52,1,52,3,52,558,8,52,1,53,1,53,1,53,1,53,5,53,564,8,53,10,53,12,
        53,567,9,53,1,53,1,53,1,54,1,54,1,54,1,54,1,55,1,55,1,55,1,55,1,
        56,1,56,1,56,1,56,1,56,3,56,584,8,56,1,57,3,57,587,8,57,1,57,3,57,
        590,8,57,1,57,3,57,593,8,57,1,57,1,57,1,57,0,2,32,90,58,0,2,4,6,
        8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38,40,42,44,46,48,50,
        52,54,56,58,60,62,64,66,68,70,72,74,76,78,80,82,84,86,88,90,92,94,
        96,98,100,102,104,106,108,110,112,114,0,8,1,0,6,8,2,0,46,46,50,50,
        1,0,9,13,1,0,48,49,2,0,14,14,53,53,2,0,14,16,53,53,2,0,52,52,55,
        55,2,0,31,31,33,33,634,0,116,1,0,0,0,2,118,1,0,0,0,4,120,1,0,0,0,
        6,122,1,0,0,0,8,124,1,0,0,0,10,126,1,0,0,0,12,128,1,0,0,0,14,131,
        1,0,0,0,16,133,1,0,0,0,18,136,1,0,0,0,20,138,1,0,0,0,22,150,1,0,
        0,0,24,161,1,0,0,0,26,172,1,0,0,0,28,182,1,0,0,0,30,184,1,0,0,0,
        32,194,1,0,0,0,34,205,1,0,0,0,36,207,1,0,0,0,38,210,1,0,0,0,40,247,
        1,0,0,0,42,249,1,0,0,0,44,257,1,0,0,0,46,259,1,0,0,0,48,289,1,0,
        0,0,50,291,1,0,0,0,52,293,1,0,0,0,54,330,1,0,0,0,56,332,1,0,0,0,
        58,369,1,0,0,0,60,371,1,0,0,0,62,408,1,0,0,0,64,410,1,0,0,0,66,412,
        1,0,0,0,68,414,1,0,0,0,70,416,1,0,0,0,72,419,1,0,0,0,74,423,1,0,
        0,0,76,434,1,0,0,0,78,436,1,0,0,0,80,439,1,0,0,0,82,458,1,0,0,0,
        84,467,1,0,0,0,86,469,1,0,0,0,88,476,1,0,0,0,90,485,1,0,0,0,92,498,
        1,0,0,0,94,506,1,0,0,0,96,525,1,0,0,0,98,538,1,0,0,0,100,540,1,0,
        0,0,102,551,1,0,0,0,104,557,1,0,0,0,106,559,1,0,0,0,108,570,1,0,
        0,0,110,574,1,0,0,0,112,583,1,0,0,0,114,586,1,0,0,0,116,117,5,1,
        0,0,117,1,1,0,0,0,118,119,5,2,0,0,119,3,1,0,0,0,120,121,5,3,0,0,
        121,5,1,0,0,0,122,123,5,4,0,0,123,7,1,0,0,0,124,125,5,5,0,0,125,
        9,1,0,0,0,126,127,7,0,0,0,127,11,1,0,0,0,128,129,7,1,0,0,129,130,
        3,10,5,0,130,13,1,0,0,0,131,132,7,2,0,0,132,15,1,0,0,0,133,134,7,
        1,0,0,134,135,3,14,7,0,135,17,1,0,0,0,136,137,7,3,0,0,137,19,1,0,
        0,0,138,139,7,4,0,0,139,21,1,0,0,0,140,151,5,47,0,0,141,151,3,8,
        4,0,142,143,5,29,0,0,143,144,3,8,4,0,144,145,3,20,10,0,145,146,3,
        12,6,0,146,147,5,30,0,0,147,151,1,0,0,0,148,151,3,18,9,0,149,151,
        5,34,0,0,150,140,1,0,0,0,150,141,1,0,0,0,150,142,1,0,0,0,150,148,
        1,0,0,0,150,149,1,0,0,0,151,23,1,0,0,0,152,162,5,46,0,0,153,154,
        5,53,0,0,154,162,5,46,0,0,155,162,5,50,0,0,156,157,5,53,0,0,157,
        162,5,50,0,0,158,162,5,51,0,0,159,160,5,53,0,0,160,162,5,51,0,0,
        161,152,1,0,0,0,161,153,1,0,0,0,161,155,1,0,0,0,161,156,1,0,0,0,
        161,158,1,0,0,0,161,159,1,0,0,0,162,25,1,0,0,0,163,173,3,32,16,0,
        164,169,3,32,16,0,165,166,5,22,0,0,166,168,3,32,16,0,167,165,1,0,
        0,0,168,171,1,0,0,0,169,167,1,0,0,0,169,170,1,0,0,0,170,173,1,0,
        0,0,171,169,1,0,0,0,172,163,1,0,0,0,172,164,1,0,0,0,173,27,1,0,0,
        0,174,175,5,55,0,0,175,176,5,29,0,0,176,183,5,30,0,0,177,178,5,55,
        0,0,178,179,5,29,0,0,179,180,3,26,13,0,180,181,5,30,0,0,181,183,
        1,0,0,0,182,174,1,0,0,0,182,177,1,0,0,0,183,29,1,0,0,0,184,185,7,
        5,0,0,185,31,1,0,0,0,186,187,6,16,-1,0,187,195,3,28,14,0,188,189,
        5,29,0,0,189,190,3,32,16,0,190,191,5,30,0,0,191,195,1,0,0,0,192,
        195,3,24,12,0,193,195,5,34,0,0,194,186,1,0,0,0,194,188,1,0,0,0,194,
        192,1,0,0,0,194,193,1,0,0,0,195,202,1,0,0,0,196,197,10,5,0,0,197,
        198,3,30,15,0,198,199,3,32,16,6,199,201,1,0,0,0,200,196,1,0,0,0,
        201,204,1,0,0,0,202,200,1,0,0,0,202,203,1,0,0,0,203,33,1,0,0,0,204,
        202,1,0,0,0,205,206,5,52,0,0,206,35,1,0,0,0,207,208,5,17,0,0,208,
        209,3,34,17,0,209,37,1,0,0,0,210,211,5,27,0,0,211,216,3,32,16,0,
        212,213,5,22,0,0,213,215,3,32,16,0,214,212,1,0,0,0,215,218,1,0,0,
        0,216,214,1,0,0,0,216,217,1,0,0,0,217,219,1,0,0,0,218,216,1,0,0,
        0,219,220,5,28,0,0,220,39,1,0,0,0,221,223,5,44,0,0,222,221,1,0,0,
        0,222,223,1,0,0,0,223,224,1,0,0,0,224,225,5,37,0,0,225,226,3,32,
        16,0,226,227,5,31,0,0,227,228,3,32,16,0,228,248,1,0,0,0,229,230,
        5,39,0,0,230,248,3,32,16,0,231,232,5,40,0,0,232,248,3,32,16,0,233,
        234,5,41,0,0,234,248,3,32,16,0,235,236,5,42,0,0,236,248,3,32,16,
        0,237,239,5,45,0,0,238,237,1,0,0,0,238,239,1,0,0,0,239,240,1,0,0,
        0,240,241,5,38,0,0,241,248,3,32,16,0,242,244,5,44,0,0,243,242,1,
        0,0,0,243,244,1,0,0,0,244,245,1,0,0,0,245,246,5,43,0,0,246,248,3,
        38,19,0,247,222,1,0,0,0,247,229,1,0,0,0,247,231,1,0,0,0,247,233,
        1,0,0,0,247,235,1,0,0,0,247,238,1,0,0,0,247,243,1,0,0,0,248,41,1,
        0,0,0,249,250,5,18,0,0,250,251,5,55,0,0,251,43,1,0,0,0,252,258,3,
        34,17,0,253,258,3,42,21,0,254,258,5,34,0,0,255,258,5,35,0,0,256,
        258,5,36,0,0,257,252,1,0,0,0,257,253,1,0,0,0,257,254,1,0,0,0,257,
        255,1,0,0,0,257,256,1,0,0,0,258,45,1,0,0,0,259,260,5,27,0,0,260,
        265,3,44,22,0,261,262,5,22,0,0,262,264,3,44,22,0,263,261,1,0,0,0,
        264,267,1,0,0,0,265,263,1,0,0,0,265,266,1,0,0,0,266,268,1,0,0,0,
        267,265,1,0,0,0,268,269,5,28,0,0,269,47,1,0,0,0,270,272,5,45,0,0,
        271,270,1,0,0,0,271,272,1,0,0,0,272,273,1,0,0,0,273,274,5,38,0,0,
        274,290,3,44,22,0,275,277,5,44,0,0,276,275,1,0,0,0,276,277,1,0,0,
        0,277,278,1,0,0,0,278,279,5,43,0,0,279,290,3,46,23,0,280,282,5,44,
        0,0,281,280,1,0,0,0,281,282,1,0,0,0,282,283,1,0,0,0,283,284,5,43,
        0,0,284,290,3,42,21,0,285,287,5,44,0,0,286,285,1,0,0,0,286,287,1,
        0,0,0,287,288,1,0,0,0,288,290,3,36,18,0,289,271,1,0,0,0,289,276,
        1,0,0,0,289,281,1,0,0,0,289,286,1,0,0,0,290,49,1,0,0,0,291,292,5,
        55,0,0,292,51,1,0,0,0,293,294,5,27,0,0,294,299,3,22,11,0,295,296,
        5,22,0,0,296,298,3,22,11,0,297,295,1,0,0,0,298,301,1,0,0,0,299,297,
        1,0,0,0,299,300,1,0,0,0,300,302,1,0,0,0,301,299,1,0,0,0,302,303,
        5,28,0,0,303,53,1,0,0,0,304,306,5,44,0,0,305,304,1,0,0,0,305,306,
        1,0,0,0,306,307,1,0,0,0,307,308,5,37,0,0,308,309,3,22,11,0,309,310,
        5,31,0,0,310,311,3,22,11,0,311,331,1,0,0,0,312,313,5,39,0,0,313,
        331,3,22,11,0,314,315,5,40,0,0,315,331,3,22,11,0,316,317,5,41,0,
        0,317,331,3,22,11,0,318,319,5,42,0,0,319,331,3,22,11,0,320,322,5,
        45,0,0,321,320,1,0,0,0,321,322,1,0,0,0,322,323,1,0,0,0,323,324,5,
        38,0,0,324,331,3,22,11,0,325,327,5,44,0,0,326,325,1,0,0,0,326,327,
        1,0,0,0,327,328,1,0,0,0,328,329,5,43,0,0,329,331,3,52,26,0,330,305,
        1,0,0,0,330,312,1,0,0,0,330,314,1,0,0,0,330,316,1,0,0,0,330,318,
        1,0,0,0,330,321,1,0,0,0,330,326,1,0,0,0,331,55,1,0,0,0,332,333,5,
        27,0,0,333,338,3,12,6,0,334,335,5,22,0,0,335,337,3,12,6,0,336,334,
        1,0,0,0,337,340,1,0,0,0,338,336,1,0,0,0,338,339,1,0,0,0,339,341,
        1,0,0,0,340,338,1,0,0,0,341,342,5,28,0,0,342,57,1,0,0,0,343,345,
        5,44,0,0,344,343,1,0,0,0,344,345,1,0,0,0,345,346,1,0,0,0,346,347,
        5,37,0,0,347,348,3,12,6,0,348,349,5,31,0,0,349,350,3,12,6,0,350,
        370,1,0,0,0,351,352,5,39,0,0,352,370,3,12,6,0,353,354,5,40,0,0,354,
        370,3,12,6,0,355,356,5,41,0,0,356,370,3,12,6,0,357,358,5,42,0,0,
        358,370,3,12,6,0,359,361,5,45,0,0,360,359,1,0,0,0,360,361,1,0,0,
        0,361,362,1,0,0,0,362,363,5,38,0,0,363,370,3,12,6,0,364,366,5,44,
        0,0,365,364,1,0,0,0,365,366,1,0,0,0,366,367,1,0,0,0,367,368,5,43,
        0,0,368,370,3,56,28,0,369,344,1,0,0,0,369,351,1,0,0,0,369,353,1,
        0,0,0,369,355,1,0,0,0,369,357,1,0,0,0,369,360,1,0,0,0,369,365,1,
        0,0,0,370,59,1,0,0,0,371,372,5,27,0,0,372,377,3,16,8,0,373,374,5,
        22,0,0,374,376,3,16,8,0,375,373,1,0,0,0,376,379,1,0,0,0,377,375,
        1,0,0,0,377,378,1,0,0,0,378,380,1,0,0,0,379,377,1,0,0,0,380,381,
        5,28,0,0,381,61,1,0,0,0,382,384,5,44,0,0,383,382,1,0,0,0,383,384,
        1,0,0,0,384,385,1,0,0,0,385,386,5,37,0,0,386,387,3,16,8,0,387,388,
        5,31,0,0,388,389,3,16,8,0,389,409,1,0,0,0,390,391,5,39,0,0,391,409,
        3,16,8,0,392,393,5,40,0,0,393,409,3,16,8,0,394,395,5,41,0,0,395,
        409,3,16,8,0,396,397,5,42,0,0,397,409,3,16,8,0,398,400,5,45,0,0,
        399,398,1,0,0,0,399,400,1,0,0,0,400,401,1,0,0,0,401,402,5,38,0,0,
        402,409,3,16,8,0,403,405,5,44,0,0,404,403,1,0,0,0,404,405,1,0,0,
        0,405,406,1,0,0,0,406,407,5,43,0,0,407,409,3,60,30,0,408,383,1,0,
        0,0,408,390,1,0,0,0,408,392,1,0,0,0,408,394,1,0,0,0,408,396,1,0,
        0,0,408,399,1,0,0,0,408,404,1,0,0,0,409,63,1,0,0,0,410,411,5,55,
        0,0,411,65,1,0,0,0,412,413,5,55,0,0,413,67,1,0,0,0,414,415,7,6,0,
        0,415,69,1,0,0,0,416,417,7,7,0,0,417,71,1,0,0,0,418,420,3,70,35,
        0,419,418,1,0,0,0,419,420,1,0,0,0,420,421,1,0,0,0,421,422,3,68,34,
        0,422,73,1,0,0,0,423,424,5,19,0,0,424,427,3,50,25,0,425,428,3,48,
        24,0,426,428,3,40,20,0,427,425,1,0,0,0,427,426,1,0,0,0,428,75,1,
        0,0,0,429,435,3,40,20,0,430,435,3,48,24,0,431,435,3,54,27,0,432,
        435,3,58,29,0,433,435,3,62,31,0,434,429,1,0,0,0,434,430,1,0,0,0,
        434,431,1,0,0,0,434,432,1,0,0,0,434,433,1,0,0,0,435,77,1,0,0,0,436,
        437,5,20,0,0,437,438,3,34,17,0,438,79,1,0,0,0,439,443,3,64,32,0,
        440,442,3,72,36,0,441,440,1,0,0,0,442,445,1,0,0,0,443,441,1,0,0,
        0,443,444,1,0,0,0,444,447,1,0,0,0,445,443,1,0,0,0,446,448,3,76,38,
        0,447,446,1,0,0,0,447,448,1,0,0,0,448,450,1,0,0,0,449,451,3,78,39,
        0,450,449,1,0,0,0,450,451,1,0,0,0,451,455,1,0,0,0,452,454,3,74,37,
        0,453,452,1,0,0,0,454,457,1,0,0,0,455,453,1,0,0,0,455,456,1,0,0,
        0,456,81,1,0,0,0,457,455,1,0,0,0,458,462,3,66,33,0,459,461,3,72,
        36,0,460,459,1,0,0,0,461,464,1,0,0,0,462,460,1,0,0,0,462,463,1,0,
        0,0,463,83,1,0,0,0,464,462,1,0,0,0,465,468,3,44,22,0,466,468,3,46,
        23,0,467,465,1,0,0,0,467,466,1,0,0,0,468,85,1,0,0,0,469,470,5,55,
        0,0,470,471,5,38,0,0,471,472,3,84,42,0,472,87,1,0,0,0,473,475,3,
        86,43,0,474,473,1,0,0,0,475,478,1,0,0,0,476,474,1,0,0,0,476,477,
        1,0,0,0,477,89,1,0,0,0,478,476,1,0,0,0,479,480,6,45,-1,0,480,481,
        5,29,0,0,481,482,3,90,45,0,482,483,5,30,0,0,483,486,1,0,0,0,484,
        486,3,80,40,0,485,479,1,0,0,0,485,484,1,0,0,0,486,495,1,0,0,0,487,
        488,10,3,0,0,488,489,5,31,0,0,489,494,3,90,45,4,490,491,10,2,0,0,
        491,492,5,32,0,0,492,494,3,90,45,3,493,487,1,0,0,0,493,490,1,0,0,
        0,494,497,1,0,0,0,495,493,1,0,0,0,495,496,1,0,0,0,496,91,1,0,0,0,
        497,495,1,0,0,0,498,503,3,90,45,0,499,500,5,22,0,0,500,502,3,90,
        45,0,501,499,1,0,0,0,502,505,1,0,0,0,503,501,1,0,0,0,503,504,1,0,
        0,0,504,93,1,0,0,0,505,503,1,0,0,0,506,511,3,82,41,0,507,508,5,22,
        0,0,508,510,3,82,41,0,509,507,1,0,0,0,510,513,1,0,0,0,511,509,1,
        0,0,0,511,512,1,0,0,0,512,95,1,0,0,0,513,511,1,0,0,0,514,515,3,4,
        2,0,515,516,5,38,0,0,516,517,5,27,0,0,517,518,3,92,46,0,518,519,
        5,28,0,0,519,526,1,0,0,0,520,521,3,4,2,0,521,522,5,38,0,0,522,523,
        5,27,0,0,523,524,5,28,0,0,524,526,1,0,0,0,525,514,1,0,0,0,525,520,
        1,0,0,0,526,97,1,0,0,0,527,528,3,6,3,0,528,529,5,38,0,0,529,530,
        5,27,0,0,530,531,3,94,47,0,531,532,5,28,0,0,532,539,1,0,0,0,533,
        534,3,6,3,0,534,535,5,38,0,0,535,536,5,27,0,0,536,537,5,28,0,0,537,
        539,1,0,0,0,538,527,1,0,0,0,538,533,1,0,0,0,539,99,1,0,0,0,540,541,
        5,25,0,0,541,546,3,102,51,0,542,543,5,22,0,0,543,545,3,102,51,0,
        544,542,1,0,0,0,545,548,1,0,0,0,546,544,1,0,0,0,546,547,1,0,0,0,
        547,549,1,0,0,0,548,546,1,0,0,0,549,550,5,26,0,0,550,101,1,0,0,0,
        551,552,5,52,0,0,552,553,5,21,0,0,553,554,3,104,52,0,554,103,1,0,
        0,0,555,558,5,52,0,0,556,558,3,106,53,0,557,555,1,0,0,0,557,556,
        1,0,0,0,558,105,1,0,0,0,559,560,5,27,0,0,560,565,5,52,0,0,561,562,
        5,22,0,0,562,564,5,52,0,0,563,561,1,0,0,0,564,567,1,0,0,0,565,563,
        1,0,0,0,565,566,1,0,0,0,566,568,1,0,0,0,567,565,1,0,0,0,568,569,
        5,28,0,0,569,107,1,0,0,0,570,571,3,0,0,0,571,572,5,38,0,0,572,573,
        3,100,50,0,573,109,1,0,0,0,574,575,3,2,1,0,575,576,5,38,0,0,576,
        577,3,100,50,0,577,111,1,0,0,0,578,584,3,96,48,0,579,584,3,98,49,
        0,580,581,3,96,48,0,581,582,3,98,49,0,582,584,1,0,0,0,583,578,1,
        0,0,0,583,579,1,0,0,0,583,580,1,0,0,0,584,113,1,0,0,0,585,587,3,
        108,54,0,586,585,1,0,0,0,586,587,1,0,0,0,587,589,1,0,0,0,588,590,
        3,110,55,0,589,588,1,0,0,0,589,590,1,0,0,0,590,592,1,0,0,0,591,593,
        3,88,44,0,592,591,1,0,0,0,592,593,1,0,0,0,593,594,1,0,0,0,594,595,
        3,112,56,0,595,115,1,0,0,0,58,150,161,169,172,182,194,202,216,222,
        238,243,247,257,265,271,276,281,286,289,299,305,321,326,330,338,
        344,360,365,369,377,383,399,404,408,419,427,434,443,447,450,455,
        462,467,476,485,493,495,503,511,525,538,546,557,565,583,586,589,
        592
    ]

class DataQualityDefinitionLanguageParser ( Parser ):

    grammarFileName = "DataQualityDefinitionLanguage.g4"

    atn = ATNDeserializer().deserialize(serializedATN())

    decisionsToDFA = [ DFA(ds, i) for i, ds in enumerate(atn.decisionToState) ]

    sharedContextCache = PredictionContextCache()

    literalNames = [ "<INVALID>", "'Metadata'", "'DataSources'", "'Rules'", 
                     "'Analyzers'", "'now()'", "'days'", "'hours'", "'minutes'", 
                     "'B'", "'KB'", "'MB'", "'GB'", "'TB'", "'+'", "'/'", 
                     "'*'", "'matches'", "'$'", "'with'", "'where'", "':'", 
                     "','", "'''", "'\"'", "'{'", "'}'", "'['", "']'", "'('", 
                     "')'", "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                     "<INVALID>", "<INVALID>", "'between'", "'='", "'>'", 
                     "'>='", "'<'", "'<='", "'in'", "'not'", "'!'", "<INVALID>", 
                     "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                     "<INVALID>", "<INVALID>", "'-'" ]

    symbolicNames = [ "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "COLON", "COMMA", "SINGLE_QUOTE", "QUOTE", 
                      "LCURL", "RCURL", "LBRAC", "RBRAC", "LPAREN", "RPAREN", 
                      "AND", "OR", "OF", "NULL", "EMPTY", "WHITESPACES_ONLY", 
                      "BETWEEN", "EQUAL_TO", "GREATER_THAN", "GREATER_THAN_EQUAL_TO", 
                      "LESS_THAN", "LESS_THAN_EQUAL_TO", "IN", "NOT", "NEGATION", 
                      "DIGIT", "DATE", "TIME", "MIL_TIME", "INT", "DECIMAL", 
                      "QUOTED_STRING", "NEGATIVE", "LINE_COMMENT", "IDENTIFIER", 
                      "WS" ]

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
                   "dataSources", "rulesOrAnalyzers", "document" ]

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
    COLON=21
    COMMA=22
    SINGLE_QUOTE=23
    QUOTE=24
    LCURL=25
    RCURL=26
    LBRAC=27
    RBRAC=28
    LPAREN=29
    RPAREN=30
    AND=31
    OR=32
    OF=33
    NULL=34
    EMPTY=35
    WHITESPACES_ONLY=36
    BETWEEN=37
    EQUAL_TO=38
    GREATER_THAN=39
    GREATER_THAN_EQUAL_TO=40
    LESS_THAN=41
    LESS_THAN_EQUAL_TO=42
    IN=43
    NOT=44
    NEGATION=45
    DIGIT=46
    DATE=47
    TIME=48
    MIL_TIME=49
    INT=50
    DECIMAL=51
    QUOTED_STRING=52
    NEGATIVE=53
    LINE_COMMENT=54
    IDENTIFIER=55
    WS=56

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
            self.state = 116
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
            self.state = 118
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
            self.state = 120
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
            self.state = 122
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
            self.state = 124
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
            self.state = 126
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
            self.state = 128
            _la = self._input.LA(1)
            if not(_la==46 or _la==50):
                self._errHandler.recoverInline(self)
            else:
                self._errHandler.reportMatch(self)
                self.consume()
            self.state = 129
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
            self.state = 131
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
            self.state = 133
            _la = self._input.LA(1)
            if not(_la==46 or _la==50):
                self._errHandler.recoverInline(self)
            else:
                self._errHandler.reportMatch(self)
                self.consume()
            self.state = 134
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
            self.state = 136
            _la = self._input.LA(1)
            if not(_la==48 or _la==49):
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
            self.state = 138
            _la = self._input.LA(1)
            if not(_la==14 or _la==53):
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
            self.state = 150
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [47]:
                self.enterOuterAlt(localctx, 1)
                self.state = 140
                self.match(DataQualityDefinitionLanguageParser.DATE)
                pass
            elif token in [5]:
                self.enterOuterAlt(localctx, 2)
                self.state = 141
                self.dateNow()
                pass
            elif token in [29]:
                self.enterOuterAlt(localctx, 3)
                self.state = 142
                self.match(DataQualityDefinitionLanguageParser.LPAREN)
                self.state = 143
                self.dateNow()
                self.state = 144
                self.dateExpressionOp()
                self.state = 145
                self.durationExpression()
                self.state = 146
                self.match(DataQualityDefinitionLanguageParser.RPAREN)
                pass
            elif token in [48, 49]:
                self.enterOuterAlt(localctx, 4)
                self.state = 148
                self.timeExpression()
                pass
            elif token in [34]:
                self.enterOuterAlt(localctx, 5)
                self.state = 149
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
            self.state = 161
            self._errHandler.sync(self)
            la_ = self._interp.adaptivePredict(self._input,1,self._ctx)
            if la_ == 1:
                self.enterOuterAlt(localctx, 1)
                self.state = 152
                self.match(DataQualityDefinitionLanguageParser.DIGIT)
                pass

            elif la_ == 2:
                self.enterOuterAlt(localctx, 2)
                self.state = 153
                self.match(DataQualityDefinitionLanguageParser.NEGATIVE)
                self.state = 154
                self.match(DataQualityDefinitionLanguageParser.DIGIT)
                pass

            elif la_ == 3:
                self.enterOuterAlt(localctx, 3)
                self.state = 155
                self.match(DataQualityDefinitionLanguageParser.INT)
                pass

            elif la_ == 4:
                self.enterOuterAlt(localctx, 4)
                self.state = 156
                self.match(DataQualityDefinitionLanguageParser.NEGATIVE)
                self.state = 157
                self.match(DataQualityDefinitionLanguageParser.INT)
                pass

            elif la_ == 5:
                self.enterOuterAlt(localctx, 5)
                self.state = 158
                self.match(DataQualityDefinitionLanguageParser.DECIMAL)
                pass

            elif la_ == 6:
                self.enterOuterAlt(localctx, 6)
                self.state = 159
                self.match(DataQualityDefinitionLanguageParser.NEGATIVE)
                self.state = 160
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
            self.state = 172
            self._errHandler.sync(self)
            la_ = self._interp.adaptivePredict(self._input,3,self._ctx)
            if la_ == 1:
                self.enterOuterAlt(localctx, 1)
                self.state = 163
                self.number(0)
                pass

            elif la_ == 2:
                self.enterOuterAlt(localctx, 2)
                self.state = 164
                self.number(0)
                self.state = 169
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==22:
                    self.state = 165
                    self.match(DataQualityDefinitionLanguageParser.COMMA)
                    self.state = 166
                    self.number(0)
                    self.state = 171
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
            self.state = 182
            self._errHandler.sync(self)
            la_ = self._interp.adaptivePredict(self._input,4,self._ctx)
            if la_ == 1:
                self.enterOuterAlt(localctx, 1)
                self.state = 174
                self.match(DataQualityDefinitionLanguageParser.IDENTIFIER)
                self.state = 175
                self.match(DataQualityDefinitionLanguageParser.LPAREN)
                self.state = 176
                self.match(DataQualityDefinitionLanguageParser.RPAREN)
                pass

            elif la_ == 2:
                self.enterOuterAlt(localctx, 2)
                self.state = 177
                self.match(DataQualityDefinitionLanguageParser.IDENTIFIER)
                self.state = 178
                self.match(DataQualityDefinitionLanguageParser.LPAREN)
                self.state = 179
                self.functionParameters()
                self.state = 180
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
            self.state = 184
            _la = self._input.LA(1)
            if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 9007199254855680) != 0)):
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
            self.state = 194
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [55]:
                self.state = 187
                self.functionCall()
                pass
            elif token in [29]:
                self.state = 188
                self.match(DataQualityDefinitionLanguageParser.LPAREN)
                self.state = 189
                self.number(0)
                self.state = 190
                self.match(DataQualityDefinitionLanguageParser.RPAREN)
                pass
            elif token in [46, 50, 51, 53]:
                self.state = 192
                self.atomicNumber()
                pass
            elif token in [34]:
                self.state = 193
                self.match(DataQualityDefinitionLanguageParser.NULL)
                pass
            else:
                raise NoViableAltException(self)

            self._ctx.stop = self._input.LT(-1)
            self.state = 202
            self._errHandler.sync(self)
            _alt = self._interp.adaptivePredict(self._input,6,self._ctx)
            while _alt!=2 and _alt!=ATN.INVALID_ALT_NUMBER:
                if _alt==1:
                    if self._parseListeners is not None:
                        self.triggerExitRuleEvent()
                    _prevctx = localctx
                    localctx = DataQualityDefinitionLanguageParser.NumberContext(self, _parentctx, _parentState)
                    self.pushNewRecursionContext(localctx, _startState, self.RULE_number)
                    self.state = 196
                    if not self.precpred(self._ctx, 5):
                        from antlr4.error.Errors import FailedPredicateException
                        raise FailedPredicateException(self, "self.precpred(self._ctx, 5)")
                    self.state = 197
                    self.numberOp()
                    self.state = 198
                    self.number(6) 
                self.state = 204
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
            self.state = 205
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
            self.state = 207
            self.match(DataQualityDefinitionLanguageParser.T__16)
            self.state = 208
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
            self.state = 210
            self.match(DataQualityDefinitionLanguageParser.LBRAC)
            self.state = 211
            self.number(0)
            self.state = 216
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==22:
                self.state = 212
                self.match(DataQualityDefinitionLanguageParser.COMMA)
                self.state = 213
                self.number(0)
                self.state = 218
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 219
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
            self.state = 247
            self._errHandler.sync(self)
            la_ = self._interp.adaptivePredict(self._input,11,self._ctx)
            if la_ == 1:
                self.enterOuterAlt(localctx, 1)
                self.state = 222
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==44:
                    self.state = 221
                    self.match(DataQualityDefinitionLanguageParser.NOT)


                self.state = 224
                self.match(DataQualityDefinitionLanguageParser.BETWEEN)
                self.state = 225
                self.number(0)
                self.state = 226
                self.match(DataQualityDefinitionLanguageParser.AND)
                self.state = 227
                self.number(0)
                pass

            elif la_ == 2:
                self.enterOuterAlt(localctx, 2)
                self.state = 229
                self.match(DataQualityDefinitionLanguageParser.GREATER_THAN)
                self.state = 230
                self.number(0)
                pass

            elif la_ == 3:
                self.enterOuterAlt(localctx, 3)
                self.state = 231
                self.match(DataQualityDefinitionLanguageParser.GREATER_THAN_EQUAL_TO)
                self.state = 232
                self.number(0)
                pass

            elif la_ == 4:
                self.enterOuterAlt(localctx, 4)
                self.state = 233
                self.match(DataQualityDefinitionLanguageParser.LESS_THAN)
                self.state = 234
                self.number(0)
                pass

            elif la_ == 5:
                self.enterOuterAlt(localctx, 5)
                self.state = 235
                self.match(DataQualityDefinitionLanguageParser.LESS_THAN_EQUAL_TO)
                self.state = 236
                self.number(0)
                pass

            elif la_ == 6:
                self.enterOuterAlt(localctx, 6)
                self.state = 238
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==45:
                    self.state = 237
                    self.match(DataQualityDefinitionLanguageParser.NEGATION)


                self.state = 240
                self.match(DataQualityDefinitionLanguageParser.EQUAL_TO)
                self.state = 241
                self.number(0)
                pass

            elif la_ == 7:
                self.enterOuterAlt(localctx, 7)
                self.state = 243
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==44:
                    self.state = 242
                    self.match(DataQualityDefinitionLanguageParser.NOT)


                self.state = 245
                self.match(DataQualityDefinitionLanguageParser.IN)
                self.state = 246
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
            self.state = 249
            self.match(DataQualityDefinitionLanguageParser.T__17)
            self.state = 250
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
            self.state = 257
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [52]:
                self.enterOuterAlt(localctx, 1)
                self.state = 252
                self.quotedString()
                pass
            elif token in [18]:
                self.enterOuterAlt(localctx, 2)
                self.state = 253
                self.variableDereference()
                pass
            elif token in [34]:
                self.enterOuterAlt(localctx, 3)
                self.state = 254
                self.match(DataQualityDefinitionLanguageParser.NULL)
                pass
            elif token in [35]:
                self.enterOuterAlt(localctx, 4)
                self.state = 255
                self.match(DataQualityDefinitionLanguageParser.EMPTY)
                pass
            elif token in [36]:
                self.enterOuterAlt(localctx, 5)
                self.state = 256
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
            self.state = 259
            self.match(DataQualityDefinitionLanguageParser.LBRAC)
            self.state = 260
            self.stringValues()
            self.state = 265
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==22:
                self.state = 261
                self.match(DataQualityDefinitionLanguageParser.COMMA)
                self.state = 262
                self.stringValues()
                self.state = 267
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 268
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
            self.state = 289
            self._errHandler.sync(self)
            la_ = self._interp.adaptivePredict(self._input,18,self._ctx)
            if la_ == 1:
                self.enterOuterAlt(localctx, 1)
                self.state = 271
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==45:
                    self.state = 270
                    self.match(DataQualityDefinitionLanguageParser.NEGATION)


                self.state = 273
                self.match(DataQualityDefinitionLanguageParser.EQUAL_TO)
                self.state = 274
                self.stringValues()
                pass

            elif la_ == 2:
                self.enterOuterAlt(localctx, 2)
                self.state = 276
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==44:
                    self.state = 275
                    self.match(DataQualityDefinitionLanguageParser.NOT)


                self.state = 278
                self.match(DataQualityDefinitionLanguageParser.IN)
                self.state = 279
                self.stringValuesArray()
                pass

            elif la_ == 3:
                self.enterOuterAlt(localctx, 3)
                self.state = 281
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==44:
                    self.state = 280
                    self.match(DataQualityDefinitionLanguageParser.NOT)


                self.state = 283
                self.match(DataQualityDefinitionLanguageParser.IN)
                self.state = 284
                self.variableDereference()
                pass

            elif la_ == 4:
                self.enterOuterAlt(localctx, 4)
                self.state = 286
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==44:
                    self.state = 285
                    self.match(DataQualityDefinitionLanguageParser.NOT)


                self.state = 288
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
            self.state = 291
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
            self.state = 293
            self.match(DataQualityDefinitionLanguageParser.LBRAC)
            self.state = 294
            self.dateExpression()
            self.state = 299
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==22:
                self.state = 295
                self.match(DataQualityDefinitionLanguageParser.COMMA)
                self.state = 296
                self.dateExpression()
                self.state = 301
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 302
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
            self.state = 330
            self._errHandler.sync(self)
            la_ = self._interp.adaptivePredict(self._input,23,self._ctx)
            if la_ == 1:
                self.enterOuterAlt(localctx, 1)
                self.state = 305
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==44:
                    self.state = 304
                    self.match(DataQualityDefinitionLanguageParser.NOT)


                self.state = 307
                self.match(DataQualityDefinitionLanguageParser.BETWEEN)
                self.state = 308
                self.dateExpression()
                self.state = 309
                self.match(DataQualityDefinitionLanguageParser.AND)
                self.state = 310
                self.dateExpression()
                pass

            elif la_ == 2:
                self.enterOuterAlt(localctx, 2)
                self.state = 312
                self.match(DataQualityDefinitionLanguageParser.GREATER_THAN)
                self.state = 313
                self.dateExpression()
                pass

            elif la_ == 3:
                self.enterOuterAlt(localctx, 3)
                self.state = 314
                self.match(DataQualityDefinitionLanguageParser.GREATER_THAN_EQUAL_TO)
                self.state = 315
                self.dateExpression()
                pass

            elif la_ == 4:
                self.enterOuterAlt(localctx, 4)
                self.state = 316
                self.match(DataQualityDefinitionLanguageParser.LESS_THAN)
                self.state = 317
                self.dateExpression()
                pass

            elif la_ == 5:
                self.enterOuterAlt(localctx, 5)
                self.state = 318
                self.match(DataQualityDefinitionLanguageParser.LESS_THAN_EQUAL_TO)
                self.state = 319
                self.dateExpression()
                pass

            elif la_ == 6:
                self.enterOuterAlt(localctx, 6)
                self.state = 321
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==45:
                    self.state = 320
                    self.match(DataQualityDefinitionLanguageParser.NEGATION)


                self.state = 323
                self.match(DataQualityDefinitionLanguageParser.EQUAL_TO)
                self.state = 324
                self.dateExpression()
                pass

            elif la_ == 7:
                self.enterOuterAlt(localctx, 7)
                self.state = 326
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==44:
                    self.state = 325
                    self.match(DataQualityDefinitionLanguageParser.NOT)


                self.state = 328
                self.match(DataQualityDefinitionLanguageParser.IN)
                self.state = 329
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
            self.state = 332
            self.match(DataQualityDefinitionLanguageParser.LBRAC)
            self.state = 333
            self.durationExpression()
            self.state = 338
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==22:
                self.state = 334
                self.match(DataQualityDefinitionLanguageParser.COMMA)
                self.state = 335
                self.durationExpression()
                self.state = 340
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 341
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
            self.state = 369
            self._errHandler.sync(self)
            la_ = self._interp.adaptivePredict(self._input,28,self._ctx)
            if la_ == 1:
                self.enterOuterAlt(localctx, 1)
                self.state = 344
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==44:
                    self.state = 343
                    self.match(DataQualityDefinitionLanguageParser.NOT)


                self.state = 346
                self.match(DataQualityDefinitionLanguageParser.BETWEEN)
                self.state = 347
                self.durationExpression()
                self.state = 348
                self.match(DataQualityDefinitionLanguageParser.AND)
                self.state = 349
                self.durationExpression()
                pass

            elif la_ == 2:
                self.enterOuterAlt(localctx, 2)
                self.state = 351
                self.match(DataQualityDefinitionLanguageParser.GREATER_THAN)
                self.state = 352
                self.durationExpression()
                pass

            elif la_ == 3:
                self.enterOuterAlt(localctx, 3)
                self.state = 353
                self.match(DataQualityDefinitionLanguageParser.GREATER_THAN_EQUAL_TO)
                self.state = 354
                self.durationExpression()
                pass

            elif la_ == 4:
                self.enterOuterAlt(localctx, 4)
                self.state = 355
                self.match(DataQualityDefinitionLanguageParser.LESS_THAN)
                self.state = 356
                self.durationExpression()
                pass

            elif la_ == 5:
                self.enterOuterAlt(localctx, 5)
                self.state = 357
                self.match(DataQualityDefinitionLanguageParser.LESS_THAN_EQUAL_TO)
                self.state = 358
                self.durationExpression()
                pass

            elif la_ == 6:
                self.enterOuterAlt(localctx, 6)
                self.state = 360
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==45:
                    self.state = 359
                    self.match(DataQualityDefinitionLanguageParser.NEGATION)


                self.state = 362
                self.match(DataQualityDefinitionLanguageParser.EQUAL_TO)
                self.state = 363
                self.durationExpression()
                pass

            elif la_ == 7:
                self.enterOuterAlt(localctx, 7)
                self.state = 365
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==44:
                    self.state = 364
                    self.match(DataQualityDefinitionLanguageParser.NOT)


                self.state = 367
                self.match(DataQualityDefinitionLanguageParser.IN)
                self.state = 368
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
            self.state = 371
            self.match(DataQualityDefinitionLanguageParser.LBRAC)
            self.state = 372
            self.sizeExpression()
            self.state = 377
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==22:
                self.state = 373
                self.match(DataQualityDefinitionLanguageParser.COMMA)
                self.state = 374
                self.sizeExpression()
                self.state = 379
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 380
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
            self.state = 408
            self._errHandler.sync(self)
            la_ = self._interp.adaptivePredict(self._input,33,self._ctx)
            if la_ == 1:
                self.enterOuterAlt(localctx, 1)
                self.state = 383
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==44:
                    self.state = 382
                    self.match(DataQualityDefinitionLanguageParser.NOT)


                self.state = 385
                self.match(DataQualityDefinitionLanguageParser.BETWEEN)
                self.state = 386
                self.sizeExpression()
                self.state = 387
                self.match(DataQualityDefinitionLanguageParser.AND)
                self.state = 388
                self.sizeExpression()
                pass

            elif la_ == 2:
                self.enterOuterAlt(localctx, 2)
                self.state = 390
                self.match(DataQualityDefinitionLanguageParser.GREATER_THAN)
                self.state = 391
                self.sizeExpression()
                pass

            elif la_ == 3:
                self.enterOuterAlt(localctx, 3)
                self.state = 392
                self.match(DataQualityDefinitionLanguageParser.GREATER_THAN_EQUAL_TO)
                self.state = 393
                self.sizeExpression()
                pass

            elif la_ == 4:
                self.enterOuterAlt(localctx, 4)
                self.state = 394
                self.match(DataQualityDefinitionLanguageParser.LESS_THAN)
                self.state = 395
                self.sizeExpression()
                pass

            elif la_ == 5:
                self.enterOuterAlt(localctx, 5)
                self.state = 396
                self.match(DataQualityDefinitionLanguageParser.LESS_THAN_EQUAL_TO)
                self.state = 397
                self.sizeExpression()
                pass

            elif la_ == 6:
                self.enterOuterAlt(localctx, 6)
                self.state = 399
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==45:
                    self.state = 398
                    self.match(DataQualityDefinitionLanguageParser.NEGATION)


                self.state = 401
                self.match(DataQualityDefinitionLanguageParser.EQUAL_TO)
                self.state = 402
                self.sizeExpression()
                pass

            elif la_ == 7:
                self.enterOuterAlt(localctx, 7)
                self.state = 404
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==44:
                    self.state = 403
                    self.match(DataQualityDefinitionLanguageParser.NOT)


                self.state = 406
                self.match(DataQualityDefinitionLanguageParser.IN)
                self.state = 407
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
            self.state = 410
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
            self.state = 412
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
            self.state = 414
            _la = self._input.LA(1)
            if not(_la==52 or _la==55):
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
            self.state = 416
            _la = self._input.LA(1)
            if not(_la==31 or _la==33):
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
            self.state = 419
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==31 or _la==33:
                self.state = 418
                self.connectorWord()


            self.state = 421
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
            self.state = 423
            self.match(DataQualityDefinitionLanguageParser.T__18)
            self.state = 424
            self.tagValues()
            self.state = 427
            self._errHandler.sync(self)
            la_ = self._interp.adaptivePredict(self._input,35,self._ctx)
            if la_ == 1:
                self.state = 425
                self.stringBasedCondition()
                pass

            elif la_ == 2:
                self.state = 426
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
            self.state = 434
            self._errHandler.sync(self)
            la_ = self._interp.adaptivePredict(self._input,36,self._ctx)
            if la_ == 1:
                self.enterOuterAlt(localctx, 1)
                self.state = 429
                self.numberBasedCondition()
                pass

            elif la_ == 2:
                self.enterOuterAlt(localctx, 2)
                self.state = 430
                self.stringBasedCondition()
                pass

            elif la_ == 3:
                self.enterOuterAlt(localctx, 3)
                self.state = 431
                self.dateBasedCondition()
                pass

            elif la_ == 4:
                self.enterOuterAlt(localctx, 4)
                self.state = 432
                self.durationBasedCondition()
                pass

            elif la_ == 5:
                self.enterOuterAlt(localctx, 5)
                self.state = 433
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
            self.state = 436
            self.match(DataQualityDefinitionLanguageParser.T__19)
            self.state = 437
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
            self.state = 439
            self.ruleType()
            self.state = 443
            self._errHandler.sync(self)
            _alt = self._interp.adaptivePredict(self._input,37,self._ctx)
            while _alt!=2 and _alt!=ATN.INVALID_ALT_NUMBER:
                if _alt==1:
                    self.state = 440
                    self.parameterWithConnectorWord() 
                self.state = 445
                self._errHandler.sync(self)
                _alt = self._interp.adaptivePredict(self._input,37,self._ctx)

            self.state = 447
            self._errHandler.sync(self)
            la_ = self._interp.adaptivePredict(self._input,38,self._ctx)
            if la_ == 1:
                self.state = 446
                self.condition()


            self.state = 450
            self._errHandler.sync(self)
            la_ = self._interp.adaptivePredict(self._input,39,self._ctx)
            if la_ == 1:
                self.state = 449
                self.whereClause()


            self.state = 455
            self._errHandler.sync(self)
            _alt = self._interp.adaptivePredict(self._input,40,self._ctx)
            while _alt!=2 and _alt!=ATN.INVALID_ALT_NUMBER:
                if _alt==1:
                    self.state = 452
                    self.tagWithCondition() 
                self.state = 457
                self._errHandler.sync(self)
                _alt = self._interp.adaptivePredict(self._input,40,self._ctx)

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
            self.state = 458
            self.analyzerType()
            self.state = 462
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 40532407383752704) != 0):
                self.state = 459
                self.parameterWithConnectorWord()
                self.state = 464
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
            self.state = 467
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [18, 34, 35, 36, 52]:
                self.enterOuterAlt(localctx, 1)
                self.state = 465
                self.stringValues()
                pass
            elif token in [27]:
                self.enterOuterAlt(localctx, 2)
                self.state = 466
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
            self.state = 469
            self.match(DataQualityDefinitionLanguageParser.IDENTIFIER)
            self.state = 470
            self.match(DataQualityDefinitionLanguageParser.EQUAL_TO)
            self.state = 471
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
            self.state = 476
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==55:
                self.state = 473
                self.variableDeclaration()
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
            self.state = 485
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [29]:
                self.state = 480
                self.match(DataQualityDefinitionLanguageParser.LPAREN)
                self.state = 481
                self.topLevelRule(0)
                self.state = 482
                self.match(DataQualityDefinitionLanguageParser.RPAREN)
                pass
            elif token in [55]:
                self.state = 484
                self.dqRule()
                pass
            else:
                raise NoViableAltException(self)

            self._ctx.stop = self._input.LT(-1)
            self.state = 495
            self._errHandler.sync(self)
            _alt = self._interp.adaptivePredict(self._input,46,self._ctx)
            while _alt!=2 and _alt!=ATN.INVALID_ALT_NUMBER:
                if _alt==1:
                    if self._parseListeners is not None:
                        self.triggerExitRuleEvent()
                    _prevctx = localctx
                    self.state = 493
                    self._errHandler.sync(self)
                    la_ = self._interp.adaptivePredict(self._input,45,self._ctx)
                    if la_ == 1:
                        localctx = DataQualityDefinitionLanguageParser.TopLevelRuleContext(self, _parentctx, _parentState)
                        self.pushNewRecursionContext(localctx, _startState, self.RULE_topLevelRule)
                        self.state = 487
                        if not self.precpred(self._ctx, 3):
                            from antlr4.error.Errors import FailedPredicateException
                            raise FailedPredicateException(self, "self.precpred(self._ctx, 3)")
                        self.state = 488
                        self.match(DataQualityDefinitionLanguageParser.AND)
                        self.state = 489
                        self.topLevelRule(4)
                        pass

                    elif la_ == 2:
                        localctx = DataQualityDefinitionLanguageParser.TopLevelRuleContext(self, _parentctx, _parentState)
                        self.pushNewRecursionContext(localctx, _startState, self.RULE_topLevelRule)
                        self.state = 490
                        if not self.precpred(self._ctx, 2):
                            from antlr4.error.Errors import FailedPredicateException
                            raise FailedPredicateException(self, "self.precpred(self._ctx, 2)")
                        self.state = 491
                        self.match(DataQualityDefinitionLanguageParser.OR)
                        self.state = 492
                        self.topLevelRule(3)
                        pass

             
                self.state = 497
                self._errHandler.sync(self)
                _alt = self._interp.adaptivePredict(self._input,46,self._ctx)

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
            self.state = 498
            self.topLevelRule(0)
            self.state = 503
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==22:
                self.state = 499
                self.match(DataQualityDefinitionLanguageParser.COMMA)
                self.state = 500
                self.topLevelRule(0)
                self.state = 505
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
            self.state = 506
            self.dqAnalyzer()
            self.state = 511
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==22:
                self.state = 507
                self.match(DataQualityDefinitionLanguageParser.COMMA)
                self.state = 508
                self.dqAnalyzer()
                self.state = 513
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
            self.state = 525
            self._errHandler.sync(self)
            la_ = self._interp.adaptivePredict(self._input,49,self._ctx)
            if la_ == 1:
                self.enterOuterAlt(localctx, 1)
                self.state = 514
                self.rulesSectionStart()
                self.state = 515
                self.match(DataQualityDefinitionLanguageParser.EQUAL_TO)
                self.state = 516
                self.match(DataQualityDefinitionLanguageParser.LBRAC)
                self.state = 517
                self.dqRules()
                self.state = 518
                self.match(DataQualityDefinitionLanguageParser.RBRAC)
                pass

            elif la_ == 2:
                self.enterOuterAlt(localctx, 2)
                self.state = 520
                self.rulesSectionStart()
                self.state = 521
                self.match(DataQualityDefinitionLanguageParser.EQUAL_TO)
                self.state = 522
                self.match(DataQualityDefinitionLanguageParser.LBRAC)
                self.state = 523
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
            self.state = 538
            self._errHandler.sync(self)
            la_ = self._interp.adaptivePredict(self._input,50,self._ctx)
            if la_ == 1:
                self.enterOuterAlt(localctx, 1)
                self.state = 527
                self.analyzersSectionStart()
                self.state = 528
                self.match(DataQualityDefinitionLanguageParser.EQUAL_TO)
                self.state = 529
                self.match(DataQualityDefinitionLanguageParser.LBRAC)
                self.state = 530
                self.dqAnalyzers()
                self.state = 531
                self.match(DataQualityDefinitionLanguageParser.RBRAC)
                pass

            elif la_ == 2:
                self.enterOuterAlt(localctx, 2)
                self.state = 533
                self.analyzersSectionStart()
                self.state = 534
                self.match(DataQualityDefinitionLanguageParser.EQUAL_TO)
                self.state = 535
                self.match(DataQualityDefinitionLanguageParser.LBRAC)
                self.state = 536
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
            self.state = 540
            self.match(DataQualityDefinitionLanguageParser.LCURL)
            self.state = 541
            self.pair()
            self.state = 546
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==22:
                self.state = 542
                self.match(DataQualityDefinitionLanguageParser.COMMA)
                self.state = 543
                self.pair()
                self.state = 548
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 549
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
            self.state = 551
            self.match(DataQualityDefinitionLanguageParser.QUOTED_STRING)
            self.state = 552
            self.match(DataQualityDefinitionLanguageParser.COLON)
            self.state = 553
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
            self.state = 557
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [52]:
                self.enterOuterAlt(localctx, 1)
                self.state = 555
                self.match(DataQualityDefinitionLanguageParser.QUOTED_STRING)
                pass
            elif token in [27]:
                self.enterOuterAlt(localctx, 2)
                self.state = 556
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
            self.state = 559
            self.match(DataQualityDefinitionLanguageParser.LBRAC)
            self.state = 560
            self.match(DataQualityDefinitionLanguageParser.QUOTED_STRING)
            self.state = 565
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==22:
                self.state = 561
                self.match(DataQualityDefinitionLanguageParser.COMMA)
                self.state = 562
                self.match(DataQualityDefinitionLanguageParser.QUOTED_STRING)
                self.state = 567
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 568
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
            self.state = 570
            self.metadataSectionStart()
            self.state = 571
            self.match(DataQualityDefinitionLanguageParser.EQUAL_TO)
            self.state = 572
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
            self.state = 574
            self.dataSourcesSectionStart()
            self.state = 575
            self.match(DataQualityDefinitionLanguageParser.EQUAL_TO)
            self.state = 576
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
            self.state = 583
            self._errHandler.sync(self)
            la_ = self._interp.adaptivePredict(self._input,54,self._ctx)
            if la_ == 1:
                self.enterOuterAlt(localctx, 1)
                self.state = 578
                self.rules()
                pass

            elif la_ == 2:
                self.enterOuterAlt(localctx, 2)
                self.state = 579
                self.analyzers()
                pass

            elif la_ == 3:
                self.enterOuterAlt(localctx, 3)
                self.state = 580
                self.rules()
                self.state = 581
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


        def getRuleIndex(self):
            return DataQualityDefinitionLanguageParser.RULE_document




    def document(self):

        localctx = DataQualityDefinitionLanguageParser.DocumentContext(self, self._ctx, self.state)
        self.enterRule(localctx, 114, self.RULE_document)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 586
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==1:
                self.state = 585
                self.metadata()


            self.state = 589
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==2:
                self.state = 588
                self.dataSources()


            self.state = 592
            self._errHandler.sync(self)
            la_ = self._interp.adaptivePredict(self._input,57,self._ctx)
            if la_ == 1:
                self.state = 591
                self.variableDeclarations()


            self.state = 594
            self.rulesOrAnalyzers()
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
         




